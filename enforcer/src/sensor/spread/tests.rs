use super::*;

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// A core, thread by thread.
#[derive(Debug, Clone)]
struct Core {
    cpus: CpuSet,
    seats: Vec<Seat>,
    llc: Option<usize>,
    awaits: bool,
}

#[derive(Debug, Clone)]
enum Seat {
    Nothing,
    Gated,
    Other,
    Spread(Thread),
}

impl Core {
    fn counting(&self) -> usize {
        self.seats.iter().filter(|seat| matches!(seat, Seat::Other | Seat::Spread(_))).count()
    }

    fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.seats.iter().filter_map(|seat| if let Seat::Spread(thread) = seat { Some(thread) } else { None })
    }

    fn is_crowded(&self) -> bool {
        self.counting() > 1 && self.threads().next().is_some()
    }
}

/// Cores of as many threads as each word has letters: `.` nothing, `g` gated, `o` other, a capital letter a thread that
/// spreads and may run anywhere. Of two capital letters the later one is the newer.
fn cores(text: &str) -> Vec<Core> {
    let mut next = 0..;
    let seat = |letter: char| match letter {
        '.' => Seat::Nothing,
        'g' => Seat::Gated,
        'o' => Seat::Other,
        name => Seat::Spread(thread(name, "0-63")),
    };
    let core = |word: &str| Core {
        cpus: word.chars().map(|_| CpuId(next.next().unwrap())).collect(),
        seats: word.chars().map(seat).collect(),
        llc: Some(0),
        awaits: false,
    };
    text.split(' ').map(core).collect()
}

fn thread(name: char, fits: &str) -> Thread {
    let seen = Seen { cpu: CpuId(0), turn: 0 };
    Thread { tid: Tid(name as i32), since: name as u64, fits: set(fits), settles: false, seen }
}

fn orders(cores: &[Core]) -> Orders {
    let mut moment = Moment::default();
    for (number, core) in cores.iter().enumerate() {
        let Core { cpus, llc, awaits, .. } = core;
        let has_gated = core.seats.iter().any(|seat| matches!(seat, Seat::Gated));
        match core.counting() {
            0 => moment.free.push(Free { core: number, cpus, llc: *llc, has_gated, awaits: *awaits }),
            counting if core.is_crowded() => {
                moment.crowded.push(Crowded {
                    core: number,
                    llc: *llc,
                    counting,
                    threads: core.threads().cloned().collect(),
                });
            }
            _ => {}
        }
    }
    super::orders(moment)
}

/// `A→2-3` for each move.
fn said(orders: &Orders) -> String {
    let said = |it: &Move| format!("{}→{}", char::from(it.tid.0 as u8), it.cpus);
    orders.moves.iter().map(said).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_newer_of_two_goes_to_a_core_that_is_free() {
    for (now, moves) in [
        ("AB ..", "B→2-3"),
        ("BA ..", "B→2-3"),
        (".. AB", "B→0-1"),
        ("Ao ..", "A→2-3"),
        ("oA ..", "A→2-3"),
        ("AB CD .. ..", "B→4-5 D→6-7"),
        ("AB CD ..", "B→4-5"),
        ("AB .. ..", "B→2-3"),
    ] {
        assert_eq!(said(&orders(&cores(now))), moves, "{now}");
    }
}

#[test]
fn nothing_is_done_where_nothing_can_be_won() {
    for now in ["A. ..", "A. B.", "AB C.", "AB o.", "oo ..", "o. ..", "Ag ..", "gg ..", "..", "AB CD", "AB", "A"] {
        assert_eq!(orders(&cores(now)), Orders::default(), "{now}");
    }
}

#[test]
fn a_core_of_gated_threads_is_free_and_is_taken_last() {
    assert_eq!(said(&orders(&cores("AB gg"))), "B→2-3");
    assert_eq!(said(&orders(&cores("AB gg .."))), "B→4-5");
    assert_eq!(said(&orders(&cores("AB g. gg"))), "B→2-3");
}

#[test]
fn cores_of_any_width_are_emptied_until_one_is_left() {
    assert_eq!(said(&orders(&cores("ABCD .... .... ...."))), "D→4-7 C→8-11 B→12-15");
    assert_eq!(said(&orders(&cores("ABCo .... .... ...."))), "C→4-7 B→8-11 A→12-15");
    assert_eq!(said(&orders(&cores("ABCD .... ...."))), "D→4-7 C→8-11");
    assert_eq!(said(&orders(&cores("AB . ."))), "B→2");
    assert_eq!(said(&orders(&cores("ABCDEFGH ........"))), "H→8-15");
}

#[test]
fn a_thread_goes_only_where_it_may_run() {
    let mut now = cores("AB .. .. ..");
    let of = |name, fits| Seat::Spread(thread(name, fits));
    now[0].seats[1] = of('B', "0,1,5");
    assert_eq!(said(&orders(&now)), "B→5", "one CPU of a free core will do");
    now[0].seats[1] = of('B', "0-1");
    assert_eq!(said(&orders(&now)), "A→2-3", "the older goes where the newer cannot");
    now[0].seats[0] = of('A', "0-1");
    assert_eq!(orders(&now), Orders::default(), "and that nobody can is not to be waited for");
    // Who has less choice chooses first.
    let mut now = cores("AB CD .. ..");
    now[1].seats[1] = of('D', "2-5");
    now[1].seats[0] = of('C', "2-5");
    assert_eq!(said(&orders(&now)), "D→4-5 B→6-7");
}

#[test]
fn the_same_cache_comes_first() {
    let mut now = cores("AB .. ..");
    now[1].llc = Some(1);
    assert_eq!(said(&orders(&now)), "B→4-5");
    now[2].seats[0] = Seat::Gated;
    assert_eq!(said(&orders(&now)), "B→2-3", "but an empty core before one with gated threads");
}

#[test]
fn a_core_takes_one_thread_at_a_time() {
    let mut now = cores("AB .. ..");
    now[1].awaits = true;
    assert_eq!(said(&orders(&now)), "B→4-5");
    now[2].awaits = true;
    assert_eq!(orders(&now), Orders { stuck: smallvec![0], ..Orders::default() });
    now[0].awaits = true;
    now[2].awaits = false;
    assert_eq!(said(&orders(&now)), "B→4-5", "who was sent there may have met another");
}

#[test]
fn who_has_just_been_moved_stays() {
    let mut now = cores("AB ..");
    let settle = |seat: &mut Seat| match seat {
        Seat::Spread(thread) => thread.settles = true,
        _ => panic!(),
    };
    settle(&mut now[0].seats[1]);
    assert_eq!(said(&orders(&now)), "A→2-3");
    settle(&mut now[0].seats[0]);
    assert_eq!(orders(&now), Orders { stuck: smallvec![0], ..Orders::default() });
}

/// Every state of three cores of two threads.
#[test]
fn on_every_small_machine_all_that_can_be_won_is_won_and_nothing_is_lost() {
    let letters = ['.', 'g', 'o', 'S'];
    for state in 0..4_usize.pow(6) {
        let mut number = 0;
        let name = |at: usize, number: &mut u8| match letters[state / 4_usize.pow(at as u32) % 4] {
            'S' => {
                *number += 1;
                char::from(b'A' + *number - 1)
            }
            other => other,
        };
        let text: Vec<String> =
            (0..3).map(|core| (0..2).map(|seat| name(core * 2 + seat, &mut number)).collect()).collect();
        let text = text.join(" ");
        let before = cores(&text);
        let orders = orders(&before);
        let mut after = before.clone();
        for it in &orders.moves {
            let is_it = |seat: &&mut Seat| matches!(seat, Seat::Spread(thread) if thread.tid == it.tid);
            let left = after.iter_mut().flat_map(|core| &mut core.seats).find(is_it).unwrap();
            let moved = std::mem::replace(left, Seat::Nothing);
            assert_eq!(after[it.to].counting(), 0, "{text}: two to one core");
            assert_eq!(it.cpus, after[it.to].cpus, "{text}");
            after[it.to].seats[0] = moved;
        }
        let crowded = |cores: &[Core]| cores.iter().filter(|core| core.is_crowded()).count();
        let free = |cores: &[Core]| cores.iter().filter(|core| core.counting() == 0).count();
        let most = crowded(&before).min(free(&before));
        assert_eq!((orders.moves.len(), crowded(&after)), (most, crowded(&before) - most), "{text}");
        assert!(orders.stuck.is_empty(), "{text}: nothing rests");
    }
}

use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};

use super::*;
use crate::testing::is_root;

/// A datagram as the kernel builds it around the union of a `struct proc_event`.
fn datagram(what: u32, ack: u32, data: &[u8]) -> Vec<u8> {
    let mut event = Vec::new();
    event.extend(what.to_ne_bytes());
    event.extend(1_u32.to_ne_bytes());
    event.extend(123_456_789_u64.to_ne_bytes());
    event.extend(data);
    event.resize(40, 0); // the union's size, whatever is in it
    let mut message = Vec::new();
    message.extend((16 + 20 + event.len() as u32).to_ne_bytes());
    message.extend(3_u16.to_ne_bytes());
    message.extend([0; 10]);
    for word in [1, 1, 77, ack] {
        message.extend(u32::to_ne_bytes(word));
    }
    message.extend((event.len() as u16).to_ne_bytes());
    message.extend([0; 2]);
    message.extend(event);
    message
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn event(what: u32, data: &[u8]) -> ProcEvent {
    match decode(&datagram(what, 0, data)).unwrap() {
        Message::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn processes_and_threads_are_told_apart() {
    let (parent, parent_thread) = (Pid(10), Tid(11));
    assert_eq!(event(1, &words(&[11, 10, 20, 20])), ProcEvent::Fork { parent, parent_thread, child: Pid(20) });
    assert_eq!(event(1, &words(&[1, 1, 21, 20])), ProcEvent::Thread { process: Pid(20), thread: Tid(21) });
    assert_eq!(event(2, &words(&[20, 20])), ProcEvent::Exec { process: Pid(20) });
}

#[test]
fn ids_names_and_ends_are_read() {
    let (process, thread) = (Pid(20), Tid(21));
    assert_eq!(event(4, &words(&[21, 20, 1000, 0])), ProcEvent::Uid { process, thread, real: 1000, effective: 0 });
    assert_eq!(event(0x40, &words(&[21, 20, 5, 6])), ProcEvent::Gid { process, thread, real: 5, effective: 6 });
    let mut comm = words(&[21, 20]);
    comm.extend(b"a b)\xff\0garbage");
    assert_eq!(event(0x200, &comm), ProcEvent::Comm { process, thread, comm: b"a b)\xff".to_vec() });
    let exit = words(&[21, 20, 0x100, 17, 10, 10]);
    assert_eq!(event(0x8000_0000, &exit), ProcEvent::Exit { process, thread, status: 0x100 });
}

#[test]
fn answers_and_what_is_of_no_concern_are_no_events() {
    assert_eq!(decode(&datagram(0, 43, &words(&[1]))), Ok(Message::Answer { to: 43, errno: 1 }));
    assert_eq!(decode(&datagram(0x80, 0, &words(&[20, 20]))), Ok(Message::Other));
    assert_eq!(decode(&datagram(0x400, 0, &[])), Ok(Message::Other));
}

#[test]
#[cfg(target_endian = "little")]
fn bytes_of_a_kernel_are_read() {
    // An exec of process 0x37b1, as received on Linux 6.18.
    #[rustfmt::skip]
    let bytes: [u8; 76] = [
        0x4c, 0, 0, 0, 3, 0, 0, 0, 0x8b, 0x42, 0, 0, 0, 0, 0, 0, // netlink: 76 bytes, NLMSG_DONE
        1, 0, 0, 0, 1, 0, 0, 0, 0x8b, 0x42, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, 0, // connector: 1.1, 40 bytes
        2, 0, 0, 0, 1, 0, 0, 0, 0x65, 0x55, 0x38, 0x09, 0x53, 0x01, 0, 0, // PROC_EVENT_EXEC, CPU 1, time
        0xb1, 0x37, 0, 0, 0xb1, 0x37, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    assert_eq!(decode(&bytes), Ok(Message::Event(ProcEvent::Exec { process: Pid(0x37b1) })));
}

#[test]
fn nothing_is_read_past_the_end() {
    let whole = datagram(1, 0, &words(&[11, 10, 20, 20]));
    for length in 0..whole.len() {
        assert_eq!(decode(&whole[..length]), Err(Malformed), "{length}");
    }
    for (at, what) in [(4, "type"), (16, "index"), (20, "value"), (0, "length"), (32, "payload length")] {
        let mut broken = whole.clone();
        broken[at] ^= 0xff;
        assert_eq!(decode(&broken), Err(Malformed), "{what}");
    }
}

#[test]
fn a_life_is_seen_from_fork_to_exit() {
    if !is_root() {
        return;
    }
    let mut connector = Connector::open(Duration::from_secs(10)).unwrap();
    let mut child = Command::new("true").spawn().unwrap();
    let pid = Pid(child.id() as i32);
    assert!(child.wait().unwrap().success());
    let mut seen = Vec::new();
    let is_exit = |event: &ProcEvent| matches!(event, ProcEvent::Exit { process, .. } if *process == pid);
    let end = Instant::now() + Duration::from_secs(20);
    while !seen.iter().any(is_exit) && Instant::now() < end {
        poll(&mut [PollFd::new(connector.as_fd(), PollFlags::POLLIN)], PollTimeout::from(1_000_u16)).unwrap();
        let outcome = connector.drain(&mut seen).unwrap();
        assert_eq!((outcome.lost, outcome.rejected), (0, 0));
    }
    let of_child: Vec<_> = seen
        .into_iter()
        .filter(|event| match event {
            ProcEvent::Fork { child, .. } => *child == pid,
            ProcEvent::Exec { process } | ProcEvent::Exit { process, .. } => *process == pid,
            _ => false,
        })
        .collect();
    assert!(
        matches!(
            of_child.as_slice(),
            [
                ProcEvent::Fork { parent, parent_thread, .. },
                ProcEvent::Exec { .. },
                ProcEvent::Exit { thread, status: 0, .. }
            ] if *parent == Pid::current() && *parent_thread == Tid::current() && thread.leads(pid)
        ),
        "{of_child:?}"
    );
}

#[test]
fn an_overflow_is_reported_and_what_follows_is_read() {
    if !is_root() {
        return;
    }
    let mut connector = Connector::open(Duration::from_secs(10)).unwrap();
    assert!(connector.receive_buffer().unwrap() >= 16 << 20);
    // The smallest buffer there is, so that a few processes fill it.
    setsockopt(&connector.as_fd(), sockopt::RcvBufForce, &0).unwrap();
    for _ in 0..20 {
        assert!(Command::new("true").status().unwrap().success());
    }
    let mut seen = Vec::new();
    let outcome = connector.drain(&mut seen).unwrap();
    assert!(outcome.lost > 0);
    assert_eq!(outcome.events, seen.len());

    setsockopt(&connector.as_fd(), sockopt::RcvBufForce, &(1 << 20)).unwrap();
    connector.drain(&mut seen).unwrap();
    let mut child = Command::new("true").spawn().unwrap();
    let pid = Pid(child.id() as i32);
    child.wait().unwrap();
    connector.drain(&mut seen).unwrap();
    assert!(seen.iter().any(|event| matches!(event, ProcEvent::Fork { child, .. } if *child == pid)), "{seen:?}");
}

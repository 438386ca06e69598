//! One line of the journal.
//!
//! `WORD key=value …`, values without blanks: paths are percent-escaped, sets of CPUs in the kernel's list format.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use cotenant_compiler::CpuSet;

use crate::cookies::Given;
use crate::ids::{Pid, Tid};
use crate::member::Origin;
use crate::sys::core_sched::Cookie;
use crate::sys::sched::{Deadline, SchedPolicy, SchedState};
use crate::thread::{Before, Earlier, Mask, Touched, Wrote};

/// What one line says.
#[expect(clippy::large_enum_variant, reason = "nearly all are about threads, and few are kept")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A process was moved out of these groups.
    Process {
        /// Its id.
        pid: Pid,
        /// Its start time.
        start: u64,
        /// Where it came from.
        origin: Origin,
    },
    /// A thread is about to be changed.
    Thread {
        /// Its process.
        pid: Pid,
        /// Its id.
        tid: Tid,
        /// Its start time, what it was, what is written.
        touched: Touched,
    },
    /// A group that is not cotenant's gets other CPUs.
    Group {
        /// Its path from the hierarchy's root.
        path: PathBuf,
        /// Its CPUs before; empty on version 2 for those of its parent.
        before: CpuSet,
        /// Its CPUs as written.
        wrote: CpuSet,
        /// Whether it was stopped.
        frozen: bool,
    },
    /// The process has ended or was given back: nothing is left to undo.
    Gone {
        /// Its id.
        pid: Pid,
    },
    /// The group was given back.
    GroupGone {
        /// Its path from the hierarchy's root.
        path: PathBuf,
    },
}

impl Record {
    /// The thread's record, of a line about a thread.
    #[must_use]
    pub fn touched(&self) -> Option<&Touched> {
        match self {
            Record::Thread { touched, .. } => Some(touched),
            _ => None,
        }
    }

    /// Reads a line; none where it is not one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Record> {
        let mut words = line.split(' ');
        let kind = words.next()?;
        let values: HashMap<&str, &str> = words.filter_map(|word| word.split_once('=')).collect();
        let get = |key: &str| values.get(key).copied();
        let pid = || Some(Pid(get("pid")?.parse().ok()?));
        let start = || get("start")?.parse().ok();
        Some(match kind {
            "process" => {
                let freezer = get("freezer").filter(|path| *path != "-").map(unescape);
                let origin = Origin { cpuset: unescape(get("cpuset")?), freezer };
                Record::Process { pid: pid()?, start: start()?, origin }
            }
            "thread" => {
                let before = Before { sched: parse_sched(get("sched")?)?, mask: parse_mask(get("mask")?)? };
                let wrote = Wrote {
                    sched: optional(get("wrote")?, parse_sched)?,
                    cpus: optional(get("cpus")?, |list| list.parse().ok())?,
                    // Absent in what was written before there were any.
                    cookie: optional(get("cookie").unwrap_or("-"), parse_cookie)?,
                    earlier: Earlier {
                        sched: optional(get("earlier").unwrap_or("-"), parse_sched)?,
                        cpus: optional(get("earlier-cpus").unwrap_or("-"), |list| list.parse().ok())?,
                        cookie: optional(get("earlier-cookie").unwrap_or("-"), parse_cookie)?,
                        was: match (get("was"), get("was-mask")) {
                            (Some(sched), Some(mask)) => {
                                Some(Before { sched: parse_sched(sched)?, mask: parse_mask(mask)? })
                            }
                            _ => None,
                        },
                    },
                };
                let touched = Touched { start: start()?, before, wrote };
                Record::Thread { pid: pid()?, tid: Tid(get("tid")?.parse().ok()?), touched }
            }
            "group" => Record::Group {
                path: unescape(get("path")?),
                before: get("before")?.parse().ok()?,
                wrote: get("wrote")?.parse().ok()?,
                frozen: get("frozen")? == "1",
            },
            "gone" => Record::Gone { pid: pid()? },
            "group-gone" => Record::GroupGone { path: unescape(get("path")?) },
            _ => return None,
        })
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Record::Process { pid, start, origin } => {
                let freezer = origin.freezer.as_deref().map_or_else(|| "-".to_owned(), escape);
                write!(f, "process pid={pid} start={start} cpuset={} freezer={freezer}", escape(&origin.cpuset))
            }
            Record::Thread { pid, tid, touched } => {
                let Touched { start, before, wrote } = touched;
                write!(f, "thread pid={pid} tid={tid} start={start} sched={}", print_sched(&before.sched))?;
                write!(f, " mask={}", print_mask(&before.mask))?;
                let sched = wrote.sched.as_ref().map_or_else(|| "-".to_owned(), print_sched);
                let cpus = wrote.cpus.as_ref().map_or_else(|| "-".to_owned(), CpuSet::to_string);
                write!(f, " wrote={sched} cpus={cpus}")?;
                wrote.cookie.map_or(Ok(()), |given| write!(f, " cookie={}", print_cookie(given)))?;
                let Earlier { sched, cpus, cookie, was } = &wrote.earlier;
                sched.as_ref().map_or(Ok(()), |sched| write!(f, " earlier={}", print_sched(sched)))?;
                cpus.as_ref().map_or(Ok(()), |cpus| write!(f, " earlier-cpus={cpus}"))?;
                cookie.map_or(Ok(()), |given| write!(f, " earlier-cookie={}", print_cookie(given)))?;
                let was = was.as_ref().map(|was| (print_sched(&was.sched), print_mask(&was.mask)));
                was.map_or(Ok(()), |(sched, mask)| write!(f, " was={sched} was-mask={mask}"))
            }
            Record::Group { path, before, wrote, frozen } => {
                let frozen = u8::from(*frozen);
                write!(f, "group path={} before={before} wrote={wrote} frozen={frozen}", escape(path))
            }
            Record::Gone { pid } => write!(f, "gone pid={pid}"),
            Record::GroupGone { path } => write!(f, "group-gone path={}", escape(path)),
        }
    }
}

/// Only what still matters: the last record of each thing, and none of what is gone. Of a group the one before as well: a line
/// precedes what it tells of, and a run that was killed between the two left what the line before says.
pub(super) fn fold(records: impl Iterator<Item = Record>) -> Vec<Record> {
    let mut processes = BTreeMap::new();
    let mut threads: BTreeMap<Pid, BTreeMap<Tid, Record>> = BTreeMap::new();
    let mut groups: BTreeMap<PathBuf, (Option<Record>, Record)> = BTreeMap::new();
    for record in records {
        match &record {
            Record::Process { pid, .. } => drop(processes.insert(*pid, record)),
            Record::Thread { pid, tid, .. } => drop(threads.entry(*pid).or_default().insert(*tid, record)),
            Record::Group { path, .. } => {
                let path = path.clone();
                let before = groups.remove(&path).map(|(_, last)| last);
                groups.insert(path, (before, record));
            }
            Record::Gone { pid } => {
                processes.remove(pid);
                threads.remove(pid);
            }
            Record::GroupGone { path } => drop(groups.remove(path)),
        }
    }
    let threads = threads.into_values().flat_map(BTreeMap::into_values);
    let groups = groups.into_values().flat_map(|(before, last)| before.into_iter().chain([last]));
    processes.into_values().chain(threads).chain(groups).collect()
}

/// `-` is none, and anything that cannot be read spoils the line.
fn optional<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "-" { Some(None) } else { parse(text).map(Some) }
}

fn print_mask(mask: &Mask) -> String {
    match mask {
        Mask::Any => "any".to_owned(),
        Mask::Only(cpus) => cpus.to_string(),
    }
}

fn parse_mask(text: &str) -> Option<Mask> {
    Some(match text {
        "any" => Mask::Any,
        list => Mask::Only(list.parse().ok()?),
    })
}

fn print_cookie(given: Given) -> String {
    match given {
        Given::Making => "making".to_owned(),
        Given::Own(cookie) => format!("own:{cookie}"),
        Given::Common(cookie) => format!("common:{cookie}"),
    }
}

fn parse_cookie(text: &str) -> Option<Given> {
    let number = |text: &str| Some(Cookie(u64::from_str_radix(text, 16).ok()?));
    Some(match text.split_once(':') {
        Some(("own", cookie)) => Given::Own(number(cookie)?),
        Some(("common", cookie)) => Given::Common(number(cookie)?),
        _ if text == "making" => Given::Making,
        _ => return None,
    })
}

fn print_sched(state: &SchedState) -> String {
    let SchedState { policy, priority, nice, reset_on_fork, slice, deadline, .. } = state;
    let plain = format!("{}:{priority}:{nice}:{}:{slice}", policy.to_raw(), u8::from(*reset_on_fork));
    match deadline {
        None => plain,
        Some(Deadline { runtime, deadline, period, reclaim, overrun_signal }) => {
            let flags = u8::from(*reclaim) | u8::from(*overrun_signal) << 1;
            format!("{plain}:{runtime}:{deadline}:{period}:{flags}")
        }
    }
}

fn parse_sched(text: &str) -> Option<SchedState> {
    let mut fields = text.split(':');
    let mut state = SchedState::of(SchedPolicy::from_raw(fields.next()?.parse().ok()?));
    state.priority = fields.next()?.parse().ok()?;
    state.nice = fields.next()?.parse().ok()?;
    state.reset_on_fork = fields.next()? == "1";
    state.slice = fields.next()?.parse().ok()?;
    if let Some(runtime) = fields.next() {
        let mut number = || fields.next()?.parse::<u64>().ok();
        let (deadline, period, flags) = (number()?, number()?, number()?);
        let (reclaim, overrun_signal) = (flags & 1 != 0, flags & 2 != 0);
        state.deadline = Some(Deadline { runtime: runtime.parse().ok()?, deadline, period, reclaim, overrun_signal });
    }
    Some(state)
}

/// Bytes other than printable ASCII, and `%`, as `%NN`.
fn escape(path: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'!'..=b'~' if *byte != b'%' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    path.as_os_str().as_bytes().iter().map(byte).collect()
}

fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.split_at_checked(2).filter(|_| *first == b'%');
        let escaped = digits
            .and_then(|(digits, after)| Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, after)));
        let (byte, after) = escaped.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = after;
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

//! Why a process is covered, or is not: the comparisons that decided, with the values they were made with.

use std::iter::successors;

use cotenant_grammar::nearest;
use cotenant_grammar::tree::{Field, Relation};

use super::{Pattern, Process, Selector, cgroup_path, containers, innermost_unit, last_part, script, slices};

/// One comparison that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// As a policy writes it: `exe /usr/sbin/nginx`.
    pub text: String,
    /// Whose field it was; absent for the process itself.
    pub of: Option<Relation>,
    /// Whether it holds.
    pub holds: bool,
    /// The values compared with, any of which would do; none where the process has no such thing.
    pub seen: Vec<Vec<u8>>,
}

/// The distance of a comparison that fails and of one that has nothing to do with the value, in thousandths of a comparison.
const FAR: u32 = 1000;

impl Selector {
    /// The comparisons that decide on a process, in the order in which a policy writes them. Of several that would each be
    /// enough it is the first; where all of several were needed, or none holds, it is all.
    #[must_use]
    pub fn reasons(&self, process: &dyn Process) -> Vec<Comparison> {
        let each = |parts: &[Selector]| parts.iter().flat_map(|part| part.reasons(process)).collect();
        match self {
            Selector::All(parts) => match parts.iter().find(|part| !part.matches(process)) {
                Some(failing) => failing.reasons(process),
                None => each(parts),
            },
            Selector::Any(parts) => match parts.iter().find(|part| part.matches(process)) {
                Some(holding) => holding.reasons(process),
                None => each(parts),
            },
            Selector::Set(_, inner) => inner.reasons(process),
            Selector::Relative(Relation::Parent, inner) if process.parent().is_some() => {
                let of_parent = |parent: &dyn Process| inner.reasons(parent);
                let compared = process.parent().map(of_parent).unwrap_or_default();
                compared.into_iter().map(|it| Comparison { of: Some(Relation::Parent), ..it }).collect()
            }
            _ => vec![Comparison {
                text: self.to_string(),
                of: None,
                holds: self.matches(process),
                seen: self.seen(process),
            }],
        }
    }

    /// The values that a comparison is made with.
    fn seen(&self, process: &dyn Process) -> Vec<Vec<u8>> {
        match self {
            Selector::Pattern(field, pattern) => values(*field, pattern, process),
            Selector::User(_) => process.user().map(String::into_bytes).into_iter().collect(),
            Selector::Group(_) => process.group().map(String::into_bytes).into_iter().collect(),
            Selector::Policy(_) => {
                process.first_policy().map(|policy| policy.word().as_bytes().to_vec()).into_iter().collect()
            }
            Selector::Name(_) => {
                let exe = process.exe().map(|exe| last_part(exe).to_vec());
                std::iter::once(process.comm().to_vec()).chain(exe).chain(process.cgroups().iter().cloned()).collect()
            }
            // Of ancestors their names, the nearest first; of the one that it is, that one's.
            Selector::Relative(_, inner) => {
                let ancestors: Vec<&dyn Process> = successors(process.parent(), |it| it.parent()).collect();
                let found = ancestors.iter().find(|ancestor| inner.matches(**ancestor));
                let named = |it: &&dyn Process| it.comm().to_vec();
                found.map_or_else(|| ancestors.iter().map(named).collect(), |it| vec![named(it)])
            }
            Selector::Not(inner) => inner.reasons(process).into_iter().flat_map(|compared| compared.seen).collect(),
            Selector::Set(_, inner) => inner.seen(process),
            Selector::All(_) | Selector::Any(_) => Vec::new(),
        }
    }

    /// How far a process is from being covered, in thousandths of a comparison: 0 where it is, and less than 1000 for a
    /// comparison that only just fails, by case, by spelling or by a part of the value. To find the class that was meant.
    #[must_use]
    pub fn distance(&self, process: &dyn Process) -> u32 {
        match self {
            _ if self.matches(process) => 0,
            Selector::All(parts) => parts.iter().fold(0, |all, part| all.saturating_add(part.distance(process))),
            Selector::Any(parts) => parts.iter().map(|part| part.distance(process)).min().unwrap_or(FAR),
            Selector::Set(_, inner) => inner.distance(process),
            Selector::Relative(_, inner) => {
                let ancestors = successors(process.parent(), |it| it.parent());
                ancestors.map(|ancestor| inner.distance(ancestor)).min().unwrap_or(FAR).max(1)
            }
            Selector::Pattern(_, pattern) => closest(pattern.text(), &self.seen(process)),
            Selector::Name(name) => closest(name, &self.seen(process)),
            _ => FAR,
        }
    }
}

/// The values of a field that a pattern is held against.
fn values(field: Field, pattern: &Pattern, process: &dyn Process) -> Vec<Vec<u8>> {
    let has_slash = pattern.text().contains(['/', '\\']);
    let part = |path: &[u8]| if has_slash { path.to_vec() } else { last_part(path).to_vec() };
    let of_groups = |each: fn(&[u8]) -> Vec<Vec<u8>>| process.cgroups().iter().flat_map(|path| each(path)).collect();
    match field {
        Field::Exe => process.exe().map(part).into_iter().collect(),
        Field::Comm => vec![process.comm().to_vec()],
        Field::Thread => process.thread().map(<[u8]>::to_vec).into_iter().collect(),
        Field::Script => script(process.exe(), process.args()).map(<[u8]>::to_vec).into_iter().collect(),
        Field::Arg => process.args().to_vec(),
        Field::Cgroup => process.cgroups().to_vec(),
        Field::Unit => of_groups(|path| innermost_unit(path).map(cgroup_path::unescape).into_iter().collect()),
        Field::Slice => of_groups(|path| slices(path).map(cgroup_path::unescape).collect()),
        Field::Container => of_groups(|path| containers(path).map(<[u8]>::to_vec).collect()),
        Field::User | Field::Group => Vec::new(),
    }
}

/// How far the nearest of some values is from a pattern's text.
fn closest(text: &str, values: &[Vec<u8>]) -> u32 {
    let wanted = text.trim_matches('*').to_ascii_lowercase();
    let distance = |value: &Vec<u8>| {
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        let (wanted_name, value_name) = (name(&wanted), name(&value));
        match () {
            () if value == wanted => 200,
            () if value_name == wanted_name => 300,
            () if nearest(wanted_name, [value_name]).is_some() => 400,
            () if !wanted.is_empty() && value.contains(wanted.as_str()) => 600,
            () if value_name.len() > 2 && wanted.contains(value_name) => 700,
            () => FAR,
        }
    };
    values.iter().map(distance).min().unwrap_or(FAR)
}

fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use cotenant_grammar::SourceSet;

    use super::super::Fields;
    use super::*;
    use crate::topology::{CoreKind, CpuPlace, Topology};
    use crate::{CpuId, compile};

    fn selector(text: &str) -> Selector {
        let place = CpuPlace {
            cpu: CpuId(0),
            online: true,
            core: 0,
            llc: None,
            node: 0,
            package: 0,
            kind: CoreKind::Performance,
        };
        let source = SourceSet::one("p", format!("class t: match {text};"));
        compile(source, &Topology::new(&[place])).0.unwrap().classes.remove(0).selector
    }

    fn nginx() -> Fields {
        let parent =
            Fields { comm: b"systemd".to_vec(), exe: Some(b"/lib/systemd/systemd".to_vec()), ..Fields::default() };
        Fields {
            comm: b"nginx".to_vec(),
            exe: Some(b"/usr/sbin/nginx".to_vec()),
            args: [&b"nginx:"[..], b"worker"].map(<[u8]>::to_vec).to_vec(),
            user: ("www-data".to_owned(), 33),
            cgroups: vec![b"/system.slice/nginx.service".to_vec()],
            parent: Some(Box::new(parent)),
            ..Fields::default()
        }
    }

    /// What decided, one line a comparison.
    fn reasons(text: &str) -> Vec<String> {
        let compared = selector(text).reasons(&nginx());
        let line = |it: Comparison| {
            let seen: Vec<_> = it.seen.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
            let of = it.of.map_or_else(String::new, |relation| format!("{} ", relation.word()));
            format!("{of}{} {} [{}]", it.text, if it.holds { "yes" } else { "no" }, seen.join(", "))
        };
        compared.into_iter().map(line).collect()
    }

    #[test]
    fn the_comparisons_that_decide_are_named_with_what_they_saw() {
        for (text, expected) in [
            ("exe /usr/sbin/nginx", &["exe /usr/sbin/nginx yes [/usr/sbin/nginx]"][..]),
            ("exe httpd", &["exe httpd no [nginx]"]),
            ("exe nginx and arg -g and user root", &["arg -g no [nginx:, worker]"]),
            ("exe nginx and user www-data", &["exe nginx yes [nginx]", "user www-data yes [www-data (33)]"]),
            ("comm httpd or unit nginx.service or user root", &["unit nginx.service yes [nginx.service]"]),
            ("comm httpd or slice user.slice", &["comm httpd no [nginx]", "slice user.slice no [system.slice]"]),
            ("not (exe nginx and user www-data)", &["not (exe nginx and user www-data) no [nginx, www-data (33)]"]),
            ("parent (comm sshd)", &["parent comm sshd no [systemd]"]),
            ("ancestor (comm systemd)", &["ancestor (comm systemd) yes [systemd]"]),
            ("container web", &["container web no []"]),
        ] {
            assert_eq!(reasons(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_just_fails_is_nearer() {
        let far = |text: &str| selector(text).distance(&nginx());
        assert_eq!(far("exe nginx"), 0);
        for (near, far_away) in [
            ("exe /usr/local/sbin/nginx", "exe /usr/sbin/httpd"),
            ("comm NGINX", "comm ngnix"),
            ("comm ngnix", "comm cups"),
            ("exe nginx and user root", "exe httpd and user root"),
            ("unit ngin.service", "unit cups.service"),
            ("exe httpd or exe nginz", "exe httpd or exe cups"),
        ] {
            assert!(far(near) < far(far_away), "{near}: {}, {far_away}: {}", far(near), far(far_away));
            assert!(far(near) > 0);
        }
    }
}

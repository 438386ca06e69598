//! How far what a process shows of itself can be believed, for classes that run before everybody else.
//!
//! Anybody may create a user namespace and mount a program of their own over any path there (user_namespaces(7)): the kernel
//! then gives that path as the program's. And anybody names the units, slices and groups below their own `user@UID.service`,
//! as root of a container does below the container. So a path counts where the file is the one that this host has there, and
//! a group as far as the host made it. What a policy compares besides, such as a user, may say enough all the same; and what
//! it takes on trust in so many words, such as `comm`, is taken on trust: the lint `rt-by-name` speaks of that.

use cotenant_grammar::tree::{Field, Relation};

use super::cgroup_path::made_by_the_host;
use super::process::Process;
use super::{Pattern, Selector, group_matches, pattern_matches};

/// What speaks for a process, from nothing upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// It does not match.
    Nothing,
    /// It would match, by something that its owner made look so.
    Posed,
    /// It matches, by something that anybody may choose and the policy asks for.
    Claimed,
    /// It matches, by something that its owner could not choose.
    Sure,
}

impl Selector {
    /// Whether the process is covered, and by more than something that its owner made look so.
    #[must_use]
    pub fn admits(&self, process: &dyn Process) -> bool {
        self.evidence(process) >= Evidence::Claimed
    }

    fn evidence(&self, process: &dyn Process) -> Evidence {
        match self {
            Selector::Pattern(field, pattern) => of_pattern(*field, pattern, process),
            Selector::User(_) | Selector::Group(_) => held(self.matches(process), Evidence::Sure),
            Selector::Policy(_) | Selector::Name(_) => held(self.matches(process), Evidence::Claimed),
            Selector::Relative(Relation::Parent, inner) => {
                process.parent().map_or(Evidence::Nothing, |parent| inner.evidence(parent))
            }
            Selector::Relative(Relation::Ancestor, inner) => {
                best(std::iter::successors(process.parent(), |it| it.parent()).map(|ancestor| inner.evidence(ancestor)))
            }
            Selector::All(parts) => of_all(parts.iter().map(|part| part.evidence(process))),
            Selector::Any(parts) => best(parts.iter().map(|part| part.evidence(process))),
            // Who only looks as if it matched is not let off by that.
            Selector::Not(inner) => held(!inner.matches(process), Evidence::Claimed),
            Selector::Set(_, inner) => inner.evidence(process),
        }
    }
}

fn of_pattern(field: Field, pattern: &Pattern, process: &dyn Process) -> Evidence {
    if !pattern_matches(field, pattern, process) {
        return Evidence::Nothing;
    }
    let sure = match field {
        Field::Exe if pattern.text().contains('/') => process.runs_the_file_it_names(),
        Field::Cgroup | Field::Unit | Field::Slice | Field::Container => {
            process.cgroups().iter().any(|path| group_matches(field, pattern, made_by_the_host(path)))
        }
        _ => return Evidence::Claimed,
    };
    if sure { Evidence::Sure } else { Evidence::Posed }
}

/// One part that is sure is enough; without one, a pose spoils the rest.
fn of_all(parts: impl Iterator<Item = Evidence>) -> Evidence {
    let (mut least, mut most) = (Evidence::Sure, Evidence::Claimed);
    for part in parts {
        (least, most) = (least.min(part), most.max(part));
    }
    match (least, most) {
        (Evidence::Nothing, _) => Evidence::Nothing,
        (_, Evidence::Sure) => Evidence::Sure,
        // Nothing is asked for.
        (Evidence::Sure, _) => Evidence::Claimed,
        (least, _) => least,
    }
}

fn best(parts: impl Iterator<Item = Evidence>) -> Evidence {
    parts.max().unwrap_or(Evidence::Nothing)
}

fn held(holds: bool, evidence: Evidence) -> Evidence {
    if holds { evidence } else { Evidence::Nothing }
}

#[cfg(test)]
mod tests {
    use cotenant_grammar::tree::Field::{Cgroup, Comm, Container, Exe, Slice, Unit};

    use super::super::{Account, Fields, Scope};
    use super::*;

    fn on(field: Field, text: &str) -> Selector {
        let path = field == Cgroup || field == Exe && text.contains('/');
        Selector::Pattern(field, Pattern::new(text, if path { Scope::Path } else { Scope::Text }).unwrap())
    }

    fn nginx(is_genuine: bool, cgroup: &str) -> Fields {
        Fields {
            comm: b"nginx".to_vec(),
            exe: Some(b"/usr/sbin/nginx".to_vec()),
            user: ("www-data".to_owned(), 33),
            cgroups: vec![cgroup.as_bytes().to_vec()],
            runs_another_file: !is_genuine,
            ..Fields::default()
        }
    }

    #[test]
    fn a_path_counts_where_the_file_is_the_hosts() {
        let (path, name) = (on(Exe, "/usr/sbin/nginx"), on(Exe, "nginx"));
        let user = Selector::User(Account::new("www-data"));
        let (genuine, posed) = (nginx(true, "/"), nginx(false, "/"));
        assert!(path.matches(&posed), "for classes of any other kind");
        assert!(path.admits(&genuine) && !path.admits(&posed));
        assert!(name.admits(&posed), "the policy takes names on trust");
        assert!(!Selector::All(vec![name.clone(), path.clone()]).admits(&posed));
        assert!(Selector::All(vec![path.clone(), user]).admits(&posed), "the user says it");
        assert!(Selector::Any(vec![path.clone(), name]).admits(&posed));
        assert!(!Selector::Not(Box::new(path)).admits(&posed));
        assert!(!on(Comm, "apache").admits(&genuine) && Selector::All(Vec::new()).admits(&posed));
    }

    #[test]
    fn a_group_counts_as_far_as_the_host_made_it() {
        let id = "0123456789abcdef".repeat(4);
        let session = "/user.slice/user-1000.slice/user@1000.service/rt.slice/web.service";
        let docker = format!("/system.slice/docker-{id}.scope/rt.slice/web.service");
        for (field, text, path, admitted) in [
            (Unit, "web.service", "/system.slice/web.service", true),
            (Unit, "web.service", session, false),
            (Unit, "web.service", &*docker, false),
            (Unit, "user@1000.service", "/user.slice/user-1000.slice/user@1000.service/init", true),
            (Slice, "rt.slice", "/rt.slice/web.service", true),
            (Slice, "rt.slice", session, false),
            (Slice, "user-1000.slice", session, true),
            (Cgroup, "/user.slice/**", session, true),
            (Cgroup, "**/web.service", session, false),
            (Container, &*id, &*docker, true),
            (Container, &*id, &*format!("/user.slice/user-1.slice/user@1.service/docker-{id}.scope"), false),
        ] {
            assert_eq!(on(field, text).admits(&nginx(true, path)), admitted, "{field:?} {text} in {path}");
        }
    }
}

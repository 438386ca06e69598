use super::*;

fn process() -> Fields {
    Fields {
        comm: b"nginx".to_vec(),
        exe: Some(b"/usr/sbin/nginx".to_vec()),
        args: vec![b"nginx: worker".to_vec(), b"--conf=/etc/x.conf".to_vec()],
        user: ("www-data".to_owned(), 33),
        group: ("www-data".to_owned(), 33),
        cgroups: vec![br"/system.slice/web\x2dfront.slice/nginx@a\x2db.service/worker".to_vec()],
    }
}

fn on(field: Field, text: &str) -> bool {
    let path = matches!(field, Field::Cgroup) || field == Field::Exe && text.contains('/');
    let scope = if path { Scope::Path } else { Scope::Text };
    Selector::Pattern(field, Pattern::new(text, scope).unwrap()).matches(&process())
}

#[test]
fn comparisons_are_anchored() {
    assert!(on(Field::Comm, "nginx") && on(Field::Comm, "ng*") && !on(Field::Comm, "ngin") && !on(Field::Comm, "ginx"));
    assert!(on(Field::Arg, "--conf=*") && !on(Field::Arg, "conf"));
}

#[test]
fn exe_compares_the_path_where_the_glob_has_one() {
    assert!(on(Field::Exe, "nginx") && on(Field::Exe, "/usr/sbin/nginx") && on(Field::Exe, "/usr/*/nginx"));
    assert!(on(Field::Exe, "/usr/**/nginx") && on(Field::Exe, "/**/nginx"));
    assert!(!on(Field::Exe, "/usr/nginx") && !on(Field::Exe, "/*/nginx") && !on(Field::Exe, "sbin/nginx"));
}

#[test]
fn a_star_stops_at_slashes_in_cgroups_only() {
    assert!(on(Field::Cgroup, "/system.slice/**") && !on(Field::Cgroup, "/system.slice/*"));
    assert!(on(Field::Arg, "--conf*x.conf"));
}

#[test]
fn units_and_slices_compare_escaped_and_unescaped() {
    assert!(on(Field::Unit, r"nginx@a\x2db.service") && on(Field::Unit, "nginx@a-b.service"));
    assert!(on(Field::Unit, "nginx@*.service") && !on(Field::Unit, "worker"));
    assert!(on(Field::Slice, "system.slice") && on(Field::Slice, "web-front.slice"));
}

#[test]
fn accounts_compare_by_name_and_number() {
    assert!(Selector::User(Account::new("www-data")).matches(&process()));
    assert!(Selector::Group(Account::new("33")).matches(&process()));
    assert!(!Selector::User(Account::new("www")).matches(&process()));
}

#[test]
fn names_match_comm_exe_and_cgroup_components() {
    let named = |name: &str| Selector::Name(name.to_owned()).matches(&process());
    assert!(named("nginx") && named("system") && named("system.slice") && named("worker"));
    assert!(!named("ngin") && !named("sbin"));
}

#[test]
fn bad_globs_are_refused() {
    for text in ["[a", "{a", "a}", "[z-a]"] {
        assert!(Pattern::new(text, Scope::Text).is_err(), "{text}");
    }
}

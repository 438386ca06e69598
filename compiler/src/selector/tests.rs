use super::*;

fn process() -> Fields {
    Fields {
        comm: b"nginx".to_vec(),
        exe: Some(b"/usr/sbin/nginx".to_vec()),
        args: vec![b"nginx: worker".to_vec(), b"--conf=/etc/x.conf".to_vec()],
        user: ("www-data".to_owned(), 33),
        group: ("www-data".to_owned(), 33),
        cgroups: vec![br"/system.slice/web\x2dfront.slice/nginx@a\x2db.service/worker".to_vec()],
        ..Fields::default()
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

#[test]
fn threads_and_first_policies_match_where_they_are_known() {
    let thread = Selector::Pattern(Field::Thread, Pattern::new("io-*", Scope::Text).unwrap());
    assert!(!thread.matches(&process()) && thread.matches(&Fields { thread: Some(b"io-1".to_vec()), ..process() }));
    let policy = Selector::Policy(InitialPolicy::Batch);
    let batch = Fields { first_policy: Some(InitialPolicy::Batch), ..process() };
    assert!(!policy.matches(&process()) && policy.matches(&batch));
}

#[test]
fn scripts_compare_their_last_part_unless_the_glob_has_a_path() {
    let script = |text: &str, exe: &str, args: &[&str]| {
        let args = args.iter().map(|it| it.as_bytes().to_vec()).collect();
        let process = Fields { exe: Some(exe.as_bytes().to_vec()), args, ..Fields::default() };
        Selector::Pattern(Field::Script, Pattern::new(text, Scope::Text).unwrap()).matches(&process)
    };
    let python = ("/usr/bin/python3.11", &["python3", "/usr/bin/terminator"][..]);
    assert!(script("terminator", python.0, python.1) && script("/usr/bin/*", python.0, python.1));
    assert!(!script("/bin/terminator", python.0, python.1) && !script("python3", python.0, python.1));
    let wine = ("/usr/lib/wine/wine64-preloader", &[r"C:\windows\explorer.exe", "/desktop"][..]);
    assert!(script("explorer.exe", wine.0, wine.1) && script(r"C:\windows\*", wine.0, wine.1));
    assert!(!script("explorer", wine.0, wine.1) && !script(r"windows\explorer.exe", wine.0, wine.1));
}

#[test]
fn containers_compare_by_id_or_its_beginning() {
    let id = "0123456789abcdef".repeat(4);
    let cgroups = vec![format!("/system.slice/docker-{id}.scope").into_bytes()];
    let process = Fields { cgroups, ..Fields::default() };
    let is =
        |text: &str| Selector::Pattern(Field::Container, Pattern::new(text, Scope::Text).unwrap()).matches(&process);
    assert!(is("0123456789ab") && is(&id) && is("01*ef") && is("*"));
    assert!(!is("123456789ab") && !is("01*f0"));
}

#[test]
fn relatives_are_asked_the_same_questions() {
    let child = |parent: Fields| Fields { parent: Some(Box::new(parent)), ..Fields::default() };
    let comm = Box::new(Selector::Pattern(Field::Comm, Pattern::new("nginx", Scope::Text).unwrap()));
    let parent = Selector::Relative(Relation::Parent, comm.clone());
    let ancestor = Selector::Relative(Relation::Ancestor, comm);
    let (near, far) = (child(process()), child(child(process())));
    assert!(parent.matches(&near) && !parent.matches(&far) && !parent.matches(&process()));
    assert!(ancestor.matches(&near) && ancestor.matches(&far) && !ancestor.matches(&process()));
    assert_eq!(parent.to_string(), "parent (comm nginx)");
}

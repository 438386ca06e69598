//! A policy that is read again and says what is in force.

use super::*;

#[test]
fn a_user_that_came_to_be_known_is_found_when_the_policy_is_read_again() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let text = "class web: match exe @/web and user root, nice 4;";
    let (plan, again) = (stage.plan(text, &machine(1)), stage.plan(&format!("# again\n{text}"), &machine(1)));
    let web = stage.sleeper("web");
    settled(web, "web");
    let mut enforcer = stage.start(plan);
    // As on a host where the account is made, or its service answers, only later.
    enforcer.accounts.take_as_unknown("root");
    assert_eq!(enforcer.scan().unwrap().placed, 0);
    assert_eq!(kernel(web).2, 0);
    let pass = enforcer.restate(again.clone()).unwrap();
    assert_eq!((pass.placed, pass.failures), (1, vec![]));
    assert_eq!(kernel(web).2, 4);
    assert_eq!(enforcer.plan().sources, again.sources, "in force is what was read last");
    // Once more changes nothing, nor does what somebody set meanwhile: the policy wants nothing new.
    sched::set_nice(web.leader(), 6).unwrap();
    assert_eq!(enforcer.restate(again).unwrap(), Pass::default());
    assert_eq!(kernel(web).2, 6);
    enforcer.release_all();
    assert_eq!(kernel(web).2, 6, "what somebody set since is theirs");
}

#[test]
fn what_could_not_be_put_in_force_is_not_handed_out() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    // A way to the processes that can be cut.
    let proc = stage.directory.path().join("proc");
    std::os::unix::fs::symlink("/proc", &proc).unwrap();
    let live = std::mem::replace(&mut stage.roots.proc, proc.clone());
    let plan = |text: &str| stage.plan(text, &machine(1));
    let (old, new) = (plan("class web: match exe @/web, nice 4;"), plan("class web: match exe @/web, nice 5;"));
    let reworded = plan("# again\nclass web: match exe @/web, nice 4;");
    let mut enforcer = stage.start(old.clone());
    enforcer.scan().unwrap();
    std::fs::remove_file(&proc).unwrap();
    assert!(enforcer.restate(reworded).is_err());
    assert_eq!(enforcer.plan().sources, old.sources);
    // The way back fails as well, and yet the plan before is what is in force.
    assert!(enforcer.adopt(new).is_err());
    assert!(enforcer.adopt(old.clone()).is_err());
    assert_eq!((&enforcer.plan().sources, &enforcer.plan().classes), (&old.sources, &old.classes));
    drop(enforcer);
    stage.roots.proc = live;
}

//! Core-scheduling cookies on real processes: given and taken away where the kernel has them, and where it has none said so,
//! without harm to the rest. What they keep is tested on a kernel with SMT, in an emulated machine.

use nix::errno::Errno;

use super::*;
use crate::sys::core_sched::{self, Cookie};

#[test]
fn a_member_gets_the_cookie_of_its_class_or_the_reason_why_not() {
    if !is_root() {
        return;
    }
    let mut stage = Stage::new();
    let (a, b) = (stage.sleeper("a"), stage.sleeper("b"));
    settled(a, "a");
    settled(b, "b");
    let text = "require: core scheduling; class a: match exe @/a, nice 3, share core with itself, class b; class b: match exe @/b;";
    let mut enforcer = stage.start(stage.plan(text, &machine(2)));
    let pass = enforcer.scan().unwrap();
    assert_eq!(kernel(a).2, 3, "a cookie that cannot be had does not keep a thread from the rest");
    match core_sched::get(a.leader()) {
        Ok(cookie) => {
            assert_ne!(cookie, Cookie::NONE);
            assert_eq!(core_sched::get(b.leader()).unwrap(), cookie);
            assert_eq!(core_sched::get(Tid::current()).unwrap(), Cookie::NONE);
        }
        Err(error) => {
            assert!([Errno::EINVAL, Errno::ENODEV].contains(&error.errno()), "{error}");
            let refused: Vec<Pid> = pass.failures.iter().map(|failure| failure.pid).collect();
            assert_eq!(refused.len(), 2, "{:?}", pass.failures);
            assert!(refused.contains(&a) && refused.contains(&b));
            assert!(pass.failures.iter().all(|failure| failure.error.errno() == error.errno()), "{:?}", pass.failures);
        }
    }
    let released = enforcer.release_all();
    assert_eq!(released.failures, []);
    assert_eq!(kernel(a).2, 0);
    assert!(core_sched::get(a.leader()).is_ok_and(|it| it == Cookie::NONE) || core_sched::get(a.leader()).is_err());
}

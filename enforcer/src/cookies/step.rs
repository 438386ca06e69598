//! What is to be done about one thread's cookie, decided before it is done so that the journal can tell of it first.

use super::Given;
use crate::sys::core_sched::Cookie;

/// The cookie that a thread's class wants for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// None.
    Nothing,
    /// One that no other thread has.
    Own,
    /// This one.
    Common(Cookie),
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    Stay,
    /// Make one for it.
    Make,
    /// Give it the one of its class.
    Give,
    /// Take away what it was given.
    Clear,
    /// Somebody else gave it one, which is left alone and reported.
    Foreign,
}

/// What to do about a thread that shows the cookie `now` and was `given` one before, and what it has been given then. `held`
/// says that what it shows is a cookie of some class, however it came by it.
///
/// What somebody else did to a cookie is theirs, until the class wants another.
pub(crate) fn step(wish: Wish, now: Cookie, given: Option<Given>, held: bool) -> (Step, Option<Given>) {
    let ours = now != Cookie::NONE && (held || given.is_some_and(|given| given.stands(now)));
    match (wish, given) {
        (Wish::Nothing, _) if ours => (Step::Clear, None),
        (Wish::Nothing, _) => (Step::Stay, None),
        (Wish::Common(cookie), _) if now == cookie => (Step::Stay, Some(Given::Common(cookie))),
        (Wish::Own, Some(Given::Own(own))) if now == own => (Step::Stay, given),
        // Somebody took it away.
        (Wish::Common(cookie), Some(Given::Common(had))) if now == Cookie::NONE && had == cookie => (Step::Stay, given),
        (Wish::Own, Some(Given::Own(_))) if now == Cookie::NONE => (Step::Stay, given),
        _ if now != Cookie::NONE && !ours => (Step::Foreign, None),
        (Wish::Common(cookie), _) => (Step::Give, Some(Given::Common(cookie))),
        (Wish::Own, _) => (Step::Make, Some(Given::Making)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Cookie = Cookie(0xa);
    const B: Cookie = Cookie(0xb);
    const NONE: Cookie = Cookie::NONE;

    #[test]
    fn a_thread_gets_what_its_class_wants_and_nothing_twice() {
        let common = |cookie| Some(Given::Common(cookie));
        let cases = [
            // Of a class without cookies.
            (Wish::Nothing, NONE, None, (Step::Stay, None)),
            (Wish::Nothing, A, common(A), (Step::Clear, None)),
            (Wish::Nothing, A, Some(Given::Making), (Step::Clear, None)),
            (Wish::Nothing, B, common(A), (Step::Stay, None)),
            // Of one with a common cookie.
            (Wish::Common(A), NONE, None, (Step::Give, common(A))),
            (Wish::Common(A), A, None, (Step::Stay, common(A))),
            (Wish::Common(A), A, common(A), (Step::Stay, common(A))),
            (Wish::Common(A), B, common(B), (Step::Give, common(A))),
            (Wish::Common(A), B, Some(Given::Own(B)), (Step::Give, common(A))),
            (Wish::Common(A), NONE, common(A), (Step::Stay, common(A))),
            (Wish::Common(A), NONE, common(B), (Step::Give, common(A))),
            (Wish::Common(A), B, None, (Step::Foreign, None)),
            (Wish::Common(A), B, common(A), (Step::Foreign, None)),
            // Of one where each thread has its own; what is inherited is not that.
            (Wish::Own, NONE, None, (Step::Make, Some(Given::Making))),
            (Wish::Own, A, Some(Given::Own(A)), (Step::Stay, Some(Given::Own(A)))),
            (Wish::Own, A, common(A), (Step::Make, Some(Given::Making))),
            (Wish::Own, NONE, Some(Given::Own(A)), (Step::Stay, Some(Given::Own(A)))),
            (Wish::Own, B, Some(Given::Own(A)), (Step::Foreign, None)),
        ];
        for (wish, now, given, expected) in cases {
            assert_eq!(step(wish, now, given, false), expected, "{wish:?} {now:?} {given:?}");
        }
    }

    #[test]
    fn a_cookie_of_a_class_is_never_somebody_elses() {
        assert_eq!(step(Wish::Nothing, A, None, true), (Step::Clear, None));
        assert_eq!(step(Wish::Common(B), A, None, true), (Step::Give, Some(Given::Common(B))));
        assert_eq!(step(Wish::Own, A, None, true), (Step::Make, Some(Given::Making)));
    }
}

//! Whether this program was given more privilege than whoever started it has: getauxval(3).

/// Whether the file that was executed has a set-user-ID or set-group-ID bit or capabilities (setcap(8)) that its caller did
/// not have. Arguments and environment then come from somebody with less privilege than this process.
#[must_use]
pub fn is_lent() -> bool {
    // SAFETY: takes a number, reads a value that the kernel left at exec, and answers 0 for one it does not know.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

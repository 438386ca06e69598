//! `/proc/sys/kernel/osrelease`: proc_sys_kernel(5).

use cotenant_grammar::tree::LinuxVersion;

use super::Procfs;

impl Procfs {
    /// The version of the running kernel; zeros for what it does not tell.
    #[must_use]
    pub fn linux_version(&self) -> LinuxVersion {
        linux_version(&std::fs::read_to_string(self.root.join("sys/kernel/osrelease")).unwrap_or_default())
    }
}

/// The 6 and 12 of `6.12.48+deb13-amd64`.
fn linux_version(release: &str) -> LinuxVersion {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    LinuxVersion { major: numbers.next().unwrap_or(0), minor: numbers.next().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_by_their_first_two_numbers() {
        let linux = |major, minor| LinuxVersion { major, minor };
        assert_eq!(linux_version("6.12.48+deb13-amd64"), linux(6, 12));
        assert_eq!(linux_version("5.14.0-427.el9.x86_64"), linux(5, 14));
        assert_eq!(linux_version("7.0-rc1"), linux(7, 0));
        assert_eq!(linux_version(""), linux(0, 0));
    }
}

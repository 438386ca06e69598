//! An initial file system for a kernel: `Documentation/driver-api/early-userspace/buffer-format.rst`, format `newc`.

/// An archive under construction; files belong to root.
#[derive(Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;
const CONSOLE: u32 = 0o020_600;

impl Archive {
    pub(crate) fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY, (0, 0), &[]);
    }

    pub(crate) fn program(&mut self, path: &str, content: &[u8]) {
        self.entry(path, PROGRAM, (0, 0), content);
    }

    /// A file with the mode that it has elsewhere, as stat(2) gives it.
    pub(crate) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.entry(path, mode, (0, 0), content);
    }

    pub(crate) fn link(&mut self, path: &str, to: &str) {
        self.entry(path, LINK, (0, 0), to.as_bytes());
    }

    /// Without `/dev/console` the first process would have nowhere to write to.
    pub(crate) fn console(&mut self) {
        self.entry("dev/console", CONSOLE, (5, 1), &[]);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let path = path.trim_start_matches('/');
        let length = |bytes: usize| u32::try_from(bytes).unwrap();
        let (size, name) = (length(content.len()), length(path.len() + 1));
        // inode, mode, user, group, links, time, size, device of the file system, device itself, length of name, check
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, device.0, device.1, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

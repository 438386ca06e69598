//! How a scene is looked at, and what keys do to that.

/// A key, whatever the terminal calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// What Ctrl-C is.
    Interrupt,
    Letter(char),
}

/// What is chosen, left out and open.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gaze {
    /// The chosen one of the classes that are shown.
    class: usize,
    /// How many of its processes are above what is shown.
    below: usize,
    filter: String,
    /// A filter that is being typed.
    typed: Option<String>,
    help: bool,
    /// How many classes there were to choose from, and how many processes the chosen one had.
    classes: usize,
    processes: usize,
}

/// Processes a page key goes past.
const PAGE: usize = 10;

impl Gaze {
    /// Classes are there that have what the filter asks for, with so many processes each.
    pub(crate) fn settle(&mut self, classes: &[usize]) {
        self.classes = classes.len();
        self.class = self.class.min(classes.len().saturating_sub(1));
        self.processes = classes.get(self.class).copied().unwrap_or(0);
        self.below = self.below.min(self.processes);
    }

    /// Does what a key asks for. False for the end.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        if key == Key::Interrupt {
            return false;
        }
        if std::mem::take(&mut self.help) {
            return true;
        }
        match self.typed.take() {
            Some(typed) => self.type_on(typed, key),
            None => return self.command(key),
        }
        true
    }

    fn type_on(&mut self, mut typed: String, key: Key) {
        match key {
            Key::Enter => return self.look_for(typed),
            Key::Escape => return,
            Key::Backspace => drop(typed.pop()),
            Key::Letter(letter) => typed.push(letter),
            _ => {}
        }
        self.typed = Some(typed);
    }

    fn look_for(&mut self, filter: String) {
        (self.filter, self.class, self.below) = (filter, 0, 0);
    }

    fn command(&mut self, key: Key) -> bool {
        let last = self.classes.saturating_sub(1);
        let class = match key {
            Key::Letter('q') => return false,
            Key::Up | Key::Letter('k') => self.class.saturating_sub(1),
            Key::Down | Key::Letter('j') => (self.class + 1).min(last),
            Key::Home => 0,
            Key::End => last,
            _ => self.class,
        };
        if class != self.class {
            (self.class, self.below) = (class, 0);
        }
        match key {
            Key::PageUp => self.below = self.below.saturating_sub(PAGE),
            Key::PageDown => self.below = (self.below + PAGE).min(self.processes.saturating_sub(1)),
            Key::Letter('/') => self.typed = Some(String::new()),
            Key::Letter('?') => self.help = true,
            Key::Escape => self.look_for(String::new()),
            _ => {}
        }
        true
    }

    /// The row of the chosen class.
    pub(crate) fn class_row(&self) -> usize {
        self.class
    }

    /// How many of so many rows are above the first shown of this many.
    pub(super) fn rows_above(&self, rows: usize, shown: usize) -> usize {
        self.below.min(rows.saturating_sub(shown))
    }

    pub(crate) fn filter(&self) -> &str {
        &self.filter
    }

    pub(super) fn being_typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    pub(super) fn helps(&self) -> bool {
        self.help
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(keys: &[Key]) -> Gaze {
        let mut gaze = Gaze::default();
        gaze.settle(&[100, 12, 3]);
        keys.iter().for_each(|key| assert!(gaze.key(*key), "{key:?}"));
        gaze
    }

    #[test]
    fn a_class_is_chosen_and_never_one_that_is_not_there() {
        assert_eq!(after(&[Key::Down, Key::Letter('j'), Key::Down]).class_row(), 2);
        assert_eq!(after(&[Key::End, Key::Up, Key::Letter('k'), Key::Up]).class_row(), 0);
        let mut gaze = after(&[Key::End]);
        gaze.settle(&[7]);
        assert_eq!(gaze.class_row(), 0);
    }

    #[test]
    fn a_filter_is_typed_kept_and_dropped() {
        let typed: Vec<Key> = "/qx".chars().map(Key::Letter).collect();
        let gaze = after(&typed);
        assert_eq!((gaze.being_typed(), gaze.filter()), (Some("qx"), ""), "`q` is a letter here");
        let kept = after(&[&typed[..], &[Key::Backspace, Key::Enter]].concat());
        assert_eq!((kept.being_typed(), kept.filter()), (None, "q"));
        assert_eq!(after(&[&typed[..], &[Key::Enter, Key::Escape]].concat()).filter(), "");
        assert_eq!(after(&[&typed[..], &[Key::Escape]].concat()).filter(), "");
    }

    #[test]
    fn any_key_closes_the_help_and_two_keys_end() {
        let mut gaze = after(&[Key::Letter('?')]);
        assert!(gaze.helps() && gaze.key(Key::Letter('q')) && !gaze.helps());
        assert!(!gaze.key(Key::Letter('q')));
        assert!(!after(&[Key::Letter('/')]).key(Key::Interrupt));
    }

    #[test]
    fn pages_end_with_the_last_process() {
        let gaze = after(&[Key::PageDown, Key::PageDown]);
        assert_eq!((gaze.rows_above(100, 5), gaze.rows_above(12, 5), gaze.rows_above(3, 5)), (20, 7, 0));
        assert_eq!(after(&[Key::PageDown, Key::Down]).rows_above(100, 5), 0, "another class begins at its first");
        let mut past = after(&[Key::PageDown; 30]);
        assert!(past.key(Key::PageUp));
        assert_eq!(past.rows_above(100, 5), 89, "at once, however often it was pressed");
    }
}

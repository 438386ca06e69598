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
    above: usize,
    filter: String,
    /// A filter that is being typed.
    typed: Option<String>,
    help: bool,
    /// How many classes there were to choose from.
    classes: usize,
    /// How many processes the chosen one had.
    processes: usize,
    /// How many of them fit: what a page key goes past.
    page: usize,
}

impl Gaze {
    /// So many classes are there that have what the filter asks for.
    pub(super) fn settle(&mut self, classes: usize) {
        self.classes = classes;
        self.class = self.class.min(classes.saturating_sub(1));
    }

    /// So many processes has the chosen one.
    pub(super) fn settle_processes(&mut self, processes: usize) {
        self.processes = processes;
        self.above = self.rows_above(processes, self.page);
    }

    /// So many of them fit on the screen as it was drawn.
    pub(crate) fn fit(&mut self, page: usize) {
        self.page = page;
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
        (self.filter, self.class, self.above) = (filter, 0, 0);
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
            (self.class, self.above) = (class, 0);
        }
        match key {
            Key::PageUp => self.above = self.above.saturating_sub(self.page),
            Key::PageDown => {
                self.above += self.page;
                self.above = self.rows_above(self.processes, self.page);
            }
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
        self.above.min(rows.saturating_sub(shown))
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
        gaze.settle(3);
        keys.iter().for_each(|key| assert!(gaze.key(*key), "{key:?}"));
        gaze
    }

    #[test]
    fn a_class_is_chosen_and_never_one_that_is_not_there() {
        assert_eq!(after(&[Key::Down, Key::Letter('j'), Key::Down]).class_row(), 2);
        assert_eq!(after(&[Key::End, Key::Up, Key::Letter('k'), Key::Up]).class_row(), 0);
        let mut gaze = after(&[Key::End]);
        gaze.settle(1);
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
    fn pages_are_as_long_as_the_screen_and_end_with_the_last_process() {
        let mut gaze = after(&[]);
        gaze.fit(5);
        gaze.settle_processes(12);
        let mut press = |key| {
            assert!(gaze.key(key));
            gaze.rows_above(12, 5)
        };
        assert_eq!([Key::PageDown; 4].map(&mut press), [5, 7, 7, 7]);
        assert_eq!(press(Key::PageUp), 2, "what was pressed beyond the end is not to be taken back");
        assert_eq!(press(Key::Down), 0, "another class begins at its first");
        gaze.key(Key::PageDown);
        gaze.settle_processes(3);
        gaze.settle_processes(12);
        assert_eq!(gaze.rows_above(12, 5), 0, "of fewer than a page none is above");
    }
}

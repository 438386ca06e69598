//! A set of CPUs, in the kernel's numbers and the kernel's spelling.

use std::fmt;
use std::str::FromStr;

use smallvec::SmallVec;

/// A CPU as the operating system numbers it; never a position in a list and never a logical number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of CPUs. Reads and prints the kernel's list format, `0-3,8,10-11` (see cpuset(7), "List format").
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    /// Bit `n % 64` of word `n / 64` stands for CPU `n`. The last word is never zero, so equal sets are equal values.
    /// Of up to 256 CPUs it takes no memory elsewhere: the sensor's answer makes dozens of sets within microseconds.
    words: SmallVec<[u64; IN_PLACE]>,
}

/// Words that need no memory elsewhere.
const IN_PLACE: usize = 4;

impl Clone for CpuSet {
    fn clone(&self) -> CpuSet {
        // Copies at once what the library would copy word by word.
        CpuSet { words: SmallVec::from_slice(&self.words) }
    }
}

/// The largest CPU number accepted from text; far above any kernel's limit (8,192 in 2026), so that a slip of the
/// hand cannot ask for gigabytes.
pub(crate) const HIGHEST: u32 = 65_535;

impl CpuSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> CpuSet {
        CpuSet::default()
    }

    /// The set that a mask of 64-bit words describes, lowest CPUs first, as `sched_getaffinity(2)` writes it.
    #[must_use]
    pub fn from_words(words: impl IntoIterator<Item = u64>) -> CpuSet {
        CpuSet { words: words.into_iter().collect() }.trimmed()
    }

    /// The mask as 64-bit words, lowest CPUs first, without trailing zero words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds one CPU.
    pub fn insert(&mut self, cpu: CpuId) {
        let word = cpu.0 as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(bits) = self.words.get_mut(word) {
            *bits |= 1 << (cpu.0 % 64);
        }
    }

    /// Takes one CPU out.
    pub fn remove(&mut self, cpu: CpuId) {
        if let Some(bits) = self.words.get_mut(cpu.0 as usize / 64) {
            *bits &= !(1 << (cpu.0 % 64));
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// Whether the CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.words.get(cpu.0 as usize / 64).is_some_and(|bits| bits >> (cpu.0 % 64) & 1 == 1)
    }

    /// How many CPUs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Whether no CPU is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    #[must_use]
    pub fn first(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// The CPUs, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.words.iter().enumerate().flat_map(|(word, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(CpuId(word as u32 * 64 + bit))
            })
        })
    }

    /// What is in either.
    #[must_use]
    pub fn union(&self, other: &CpuSet) -> CpuSet {
        self.combine(other, |a, b| a | b)
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        self.combine(other, |a, b| a & b)
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        self.combine(other, |a, b| a & !b)
    }

    /// Whether every CPU of this set is in the other.
    #[must_use]
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        let theirs = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().zip(theirs).all(|(ours, theirs)| ours & !theirs == 0)
    }

    /// Whether the two share a CPU.
    #[must_use]
    pub fn intersects(&self, other: &CpuSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    fn combine(&self, other: &CpuSet, operation: impl Fn(u64, u64) -> u64) -> CpuSet {
        let word = |set: &CpuSet, at: usize| set.words.get(at).copied().unwrap_or(0);
        let longest = self.words.len().max(other.words.len());
        let words = (0..longest).map(|at| operation(word(self, at), word(other, at)));
        if longest > IN_PLACE {
            return CpuSet { words: words.collect() }.trimmed();
        }
        let mut buffer = [0; IN_PLACE];
        buffer.iter_mut().zip(words).for_each(|(word, bits)| *word = bits);
        CpuSet { words: SmallVec::from_buf_and_len(buffer, longest) }.trimmed()
    }

    fn trimmed(mut self) -> CpuSet {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        self
    }

    /// The set as a person would write it: even steps are shortened, `0,2,…,30`. Not for the kernel.
    #[must_use]
    pub fn brief(&self) -> String {
        let cpus: Vec<u32> = self.iter().map(|cpu| cpu.0).collect();
        let mut parts = Vec::new();
        let mut rest = &cpus[..];
        while let Some((first, tail)) = rest.split_first() {
            let step = tail.first().map_or(0, |second| second - first);
            let even = rest.windows(2).take_while(|pair| matches!(pair, [a, b] if b - a == step)).count();
            let last = rest.get(even).copied().unwrap_or(*first);
            let (part, used) = match (step, even) {
                (1, _) => (format!("{first}-{last}"), even + 1),
                (_, 3..) => (format!("{first},{},…,{last}", first + step), even + 1),
                _ => (first.to_string(), 1),
            };
            parts.push(part);
            rest = rest.get(used..).unwrap_or(&[]);
        }
        parts.join(",")
    }

    /// The set as runs of neighbouring CPUs, first and last of each.
    pub fn ranges(&self) -> impl Iterator<Item = (CpuId, CpuId)> + '_ {
        let mut cpus = self.iter().peekable();
        std::iter::from_fn(move || {
            let first = cpus.next()?;
            let mut last = first;
            while let Some(next) = cpus.next_if(|next| next.0 == last.0 + 1) {
                last = next;
            }
            Some((first, last))
        })
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> CpuSet {
        let mut set = CpuSet::new();
        cpus.into_iter().for_each(|cpu| set.insert(cpu));
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// A text that is not a list of CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a list of CPUs such as `0-3,8`")]
pub struct ParseCpuSetError {
    text: String,
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    /// Reads the kernel's list format; blanks around the list and an empty list are accepted, as the kernel prints both.
    fn from_str(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let fail = || ParseCpuSetError { text: text.trim().to_owned() };
        let number = |digits: &str| digits.parse::<u32>().ok().filter(|cpu| *cpu <= HIGHEST).ok_or_else(fail);
        let mut set = CpuSet::new();
        for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(fail());
            }
            (first..=last).for_each(|cpu| set.insert(CpuId(cpu)));
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[test]
    fn lists_are_read_and_printed_as_the_kernel_does() {
        for list in ["", "0", "0-3", "0-3,8,10-11", "63-64", "1023"] {
            assert_eq!(set(list).to_string(), list);
        }
        assert_eq!(set(" 0,1,2 \n").to_string(), "0-2");
    }

    #[test]
    fn even_steps_are_shortened_for_people() {
        let brief =
            [("0,2,4,6", "0,2,…,6"), ("0-3", "0-3"), ("0,2,4", "0,2,4"), ("1,3,5,7,9-10", "1,3,…,9,10"), ("", "")];
        for (list, text) in brief {
            assert_eq!(set(list).brief(), text);
        }
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        for text in ["a", "3-1", "1,,2", "-1", "1-", "65536", "4294967296"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
    }

    #[test]
    fn operations_keep_equal_sets_equal() {
        assert_eq!(set("0-3,200").difference(&set("200")), set("0-3"));
        assert_eq!(set("0-3").union(&set("2-5")), set("0-5"));
        assert_eq!(set("0-3").intersection(&set("2-500")), set("2-3"));
        assert!(set("70").is_subset(&set("64-127")));
        assert!(!set("70").intersects(&set("0-63")));
        let mut one = set("100");
        one.remove(CpuId(100));
        assert_eq!(one, CpuSet::new());
    }
}

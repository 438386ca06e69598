//! Texts that are nearly those of a corpus.

/// xorshift64*: the same numbers on every run, and no dependency.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed | 1)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A short range of something that is `length` long.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let end = (start + self.below(24)).min(length);
        start..end
    }
}

pub(crate) struct Mutator<'a> {
    pub(crate) corpus: &'a [String],
    pub(crate) dictionary: &'a [Vec<u8>],
}

impl Mutator<'_> {
    /// A text of the corpus after one to eight mutations.
    pub(crate) fn mutation(&self, random: &mut Random) -> String {
        let mut bytes = random.pick(self.corpus).clone().into_bytes();
        for _ in 0..=random.below(8) {
            self.mutate(&mut bytes, random);
        }
        bytes.truncate(8192);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn mutate(&self, bytes: &mut Vec<u8>, random: &mut Random) {
        let range = random.range(bytes.len());
        match random.below(7) {
            0 => drop(bytes.drain(range)),
            1 => {
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, copy);
            }
            2 => drop(bytes.splice(range.start..range.start, random.pick(self.dictionary).iter().copied())),
            3 => drop(bytes.splice(range, random.pick(self.dictionary).iter().copied())),
            4 => {
                let other = random.pick(self.corpus).as_bytes();
                let piece = other[random.range(other.len())].to_vec();
                bytes.splice(range.start..range.start, piece);
            }
            5 => {
                let byte = random.below(256) as u8;
                bytes.splice(range.start..range.start, [byte]);
            }
            _ => {
                let copy = bytes[range].to_vec();
                let at = random.below(bytes.len() + 1);
                bytes.splice(at..at, copy);
            }
        }
    }
}

//! Numbers with units. Each prints as the language writes it, in the largest unit that holds it exactly.

use std::fmt;

/// A length of time, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

impl Duration {
    /// A number of microseconds.
    #[must_use]
    pub const fn micros(count: u64) -> Duration {
        Duration(count * 1_000)
    }

    /// A number of milliseconds.
    #[must_use]
    pub const fn millis(count: u64) -> Duration {
        Duration(count * 1_000_000)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The largest unit that holds the value without decimals, unless that makes an endless row of digits.
        let units = [(1_000_000_000, 9, "s"), (1_000_000, 6, "ms"), (1_000, 3, "us")];
        let holds =
            |(size, ..): &&(u64, usize, &str)| self.0.is_multiple_of(*size) && (1..1_000).contains(&(self.0 / size));
        let exact = units.iter().find(holds);
        let reached = units.iter().find(|(size, ..)| self.0 >= *size);
        let (_, digits, unit) = exact.or(reached).unwrap_or(&(1_000, 3, "us"));
        write!(f, "{}{unit}", Decimal { value: self.0, digits: *digits })
    }
}

/// A share, in hundredths of a per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(pub u64);

impl Percent {
    /// All of it.
    pub const WHOLE: Percent = Percent(10_000);
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", Decimal { value: self.0, digits: 2 })
    }
}

/// A number of CPUs, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quota(pub u64);

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.0 == 1000 { "cpu" } else { "cpus" };
        write!(f, "{} {unit}", Decimal { value: self.0, digits: 3 })
    }
}

/// A Linux release, compared by its first two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinuxVersion {
    /// The 5 of 5.14.
    pub major: u32,
    /// The 14 of 5.14.
    pub minor: u32,
}

impl fmt::Display for LinuxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A value that counts units of 10^-digits.
struct Decimal {
    value: u64,
    digits: usize,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10_u64.pow(self.digits as u32);
        write!(f, "{}", self.value / scale)?;
        let fraction = format!("{:0digits$}", self.value % scale, digits = self.digits);
        match fraction.trim_end_matches('0') {
            "" => Ok(()),
            fraction => write!(f, ".{fraction}"),
        }
    }
}

/// `2.5` as a number of units of 10^-digits; further digits are cut off. None where it does not fit.
pub(crate) fn decimal(text: &str, digits: u32) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let scale = 10_u64.checked_pow(digits)?;
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(digits as usize).collect();
    let fraction = if kept.is_empty() { 0 } else { kept.parse().ok()? };
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_as_the_language_writes_them() {
        let times = [500_000, 10_000_000, 1_500_000_000, 2_000_000_000, 1_024, 0, 7, 4_194_304_000]
            .map(|it| Duration(it).to_string());
        assert_eq!(times, ["500us", "10ms", "1.5s", "2s", "1.024us", "0us", "0.007us", "4.194304s"]);
        assert_eq!([Percent(3_000), Percent(1_250)].map(|it| it.to_string()), ["30%", "12.5%"]);
        assert_eq!([Quota(1000), Quota(2500), Quota(50)].map(|it| it.to_string()), ["1 cpu", "2.5 cpus", "0.05 cpus"]);
    }

    #[test]
    fn decimals_are_read_to_the_last_digit_that_counts() {
        assert_eq!(decimal("1.5", 9), Some(1_500_000_000));
        assert_eq!(decimal("2", 3), Some(2_000));
        assert_eq!(decimal("0.12345", 3), Some(123));
        assert_eq!(decimal("99999999999999999999", 0), None);
        assert_eq!(decimal("99999999999", 9), None);
    }
}

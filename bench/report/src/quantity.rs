//! Numbers as people write them: 10k, 4KiB, 1m, 3/day. Each parser is one of a kind of option, so that "1m" is a million
//! messages and a minute of time.

/// A count: "1000", "1e6", "10k", "2M", "1_000".
pub fn count(text: &str) -> Result<f64, String> {
    let multiples = [("", 1.0), ("k", 1e3), ("K", 1e3), ("m", 1e6), ("M", 1e6), ("g", 1e9), ("G", 1e9)];
    number(text, &multiples).ok_or_else(|| format!("'{text}' is no number such as 1000, 10k or 2M"))
}

/// A whole count.
pub fn whole(text: &str) -> Result<u64, String> {
    let counted = count(text)?;
    let fits = (0.0..=1e15).contains(&counted) && counted.fract() == 0.0;
    if fits { Ok(counted as u64) } else { Err(format!("'{text}' is no whole number from 0 to 1,000,000,000,000,000")) }
}

/// Bytes: "4096", "4KiB", "4k" and "4K" (of 1,024), "6MB" (of 1,000,000).
pub fn bytes(text: &str) -> Result<f64, String> {
    const KIBI: f64 = 1_024.0;
    let multiples = [
        ("", 1.0),
        ("b", 1.0),
        ("k", KIBI),
        ("kib", KIBI),
        ("m", KIBI * KIBI),
        ("mib", KIBI * KIBI),
        ("g", KIBI * KIBI * KIBI),
        ("gib", KIBI * KIBI * KIBI),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
    ];
    let bytes = number(&text.to_ascii_lowercase(), &multiples).filter(|bytes| bytes.fract() == 0.0);
    bytes.ok_or_else(|| format!("'{text}' is no number of bytes such as 64, 4KiB or 6MB"))
}

/// Seconds: "2.5", "90s", "1m", "500ms", "1h".
pub fn seconds(text: &str) -> Result<f64, String> {
    let multiples = [("", 1.0), ("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("m", 60.0), ("min", 60.0), ("h", 3_600.0)];
    number(text, &multiples).ok_or_else(|| format!("'{text}' is no time such as 2.5, 90s or 1m"))
}

/// Messages a second: "1000", "10k", "60/min", "1/h", "1/day".
pub fn rate(text: &str) -> Result<f64, String> {
    let refused = || format!("'{text}' is no rate such as 1000, 10k (a second), 60/min, 1/h or 1/day");
    let (number, per) = text.split_once('/').unwrap_or((text, "s"));
    let units = [("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("day", 86_400.0)];
    let seconds = units.iter().find(|(unit, _)| *unit == per.trim()).map(|(_, seconds)| *seconds);
    Ok(count(number.trim()).map_err(|_| refused())? / seconds.ok_or_else(refused)?)
}

/// A finite number of no less than zero with one of these suffixes.
fn number(text: &str, multiples: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let plain = |digits: &str| {
        let digits = digits.trim_end();
        let number: f64 = digits.replace('_', "").parse().ok()?;
        digits.ends_with(|last: char| last.is_ascii_digit()).then_some(number)
    };
    let of = |(suffix, times): &(&str, f64)| Some(plain(text.strip_suffix(suffix)?)? * times);
    multiples.iter().find_map(of).filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        assert_eq!(
            ["7", "10k", "1e6", "2M", "1_000", "1.5k"].map(|text| count(text).unwrap()),
            [7.0, 1e4, 1e6, 2e6, 1e3, 1.5e3]
        );
        assert_eq!(
            ["64", "4KiB", "4k", "6MB", "1 GiB", "100MB"].map(|text| bytes(text).unwrap()),
            [64.0, 4096.0, 4096.0, 6e6, 1_073_741_824.0, 1e8]
        );
        assert_eq!(
            ["2.5", "90s", "1m", "500ms", "1h"].map(|text| seconds(text).unwrap()),
            [2.5, 90.0, 60.0, 0.5, 3_600.0]
        );
        assert_eq!(["1000", "10k", "60/min", "1/h"].map(|text| rate(text).unwrap()), [1e3, 1e4, 1.0, 1.0 / 3_600.0]);
        assert!((rate("1/day").unwrap() - 1.157e-5).abs() < 1e-8);
        assert_eq!(whole("1e6"), Ok(1_000_000));
    }

    #[test]
    fn what_is_no_number_is_refused_in_a_sentence() {
        for text in ["", "k", "ten", "-1", "1x", "NaN", "inf", "1/", "0x10", "1e999"] {
            assert!(count(text).is_err() && bytes(text).is_err() && seconds(text).is_err(), "{text}");
            assert!(rate(text).unwrap_err().contains("such as"), "{text}");
        }
        for text in ["1.5", "1e16", "18446744073709551615"] {
            assert!(whole(text).is_err(), "{text}");
        }
        assert!(rate("1/year").is_err() && bytes("1.5").is_err());
    }
}

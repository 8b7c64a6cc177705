//! Figures as text, with their significant digits only.

use crate::stats::Spread;

pub fn interval(spread: Spread) -> String {
    format!("{} .. {}", figure(spread.min), figure(spread.max))
}

/// Three significant digits, and no further ones.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => grouped(value),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.01 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// As [`figure`], with zeros after the third digit: for large figures that are no counts, where further digits are
/// noise.
pub fn significant(value: f64) -> String {
    if value.abs() < 1000.0 || !value.is_finite() {
        return figure(value);
    }
    let scale = 10f64.powi(value.abs().log10().floor() as i32 - 2);
    grouped((value / scale).round() * scale)
}

/// A whole number with a comma at every third digit, as the articles print their figures.
pub fn grouped(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

/// Nanoseconds in the unit that makes them short: "300 ps", "40 ns", "1.5 µs", "2 s".
pub fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds.abs() {
        size if size >= 1e9 => (nanoseconds / 1e9, "s"),
        size if size >= 1e6 => (nanoseconds / 1e6, "ms"),
        size if size >= 1e3 => (nanoseconds / 1e3, "µs"),
        size if size >= 1.0 || size == 0.0 => (nanoseconds, "ns"),
        _ => (nanoseconds * 1e3, "ps"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A count in the unit that makes it short: "412k", "1M".
pub fn count(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{}M", three_digits(value / 1e6)),
        size if size >= 1e3 => format!("{}k", three_digits(value / 1e3)),
        _ => three_digits(value),
    }
}

/// "1 round", "2 rounds".
pub fn several(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(count as f64)) }
}

/// A share of one as percent.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.01 { "<0.01 %".to_owned() } else { format!("{percent:.2} %") }
}

/// Without trailing zeros.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(0.0), "0");
        assert_eq!(grouped(999.0), "999");
        assert_eq!(grouped(157_430.4), "157,430");
        assert_eq!(grouped(-1234.0), "-1,234");
        assert_eq!(grouped(f64::INFINITY), "-");
    }

    #[test]
    fn figures_keep_about_three_digits() {
        let shown = [0.0, 0.0004, 0.456, 2.345, 23.45, 234.5, 2345.6].map(figure);
        assert_eq!(shown, ["0.00", "4.0e-4", "0.46", "2.35", "23.4", "234", "2,346"]);
    }

    #[test]
    fn rates_have_three_digits_and_no_noise_after_them() {
        let shown = [292.4, 999.0, 2_345.6, 157_430.4, 476_190_476.2, 999_999.0, f64::INFINITY].map(significant);
        assert_eq!(shown, ["292", "999", "2,350", "157,000", "476,000,000", "1,000,000", "-"]);
    }

    #[test]
    fn times_and_counts_are_short() {
        assert_eq!(
            [0.3, 40.0, 1_500.0, 25e6, 2e9, 0.0].map(time),
            ["300 ps", "40 ns", "1.5 µs", "25 ms", "2 s", "0 ns"]
        );
        assert_eq!([412_345.0, 1e6, 64.0].map(count), ["412k", "1M", "64"]);
        assert_eq!([1, 2_000].map(|count| several(count, "round")), ["1 round", "2,000 rounds"]);
        assert_eq!([0.5, 0.012, 0.0, 0.000_05].map(percent), ["50.00 %", "1.20 %", "0.00 %", "<0.01 %"]);
    }
}

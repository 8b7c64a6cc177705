//! A point in time as a date: Gregorian, UTC.

/// "2026-03-01 12:00 UTC" from seconds since 1970.
pub fn date(seconds: u64) -> String {
    let rest = seconds % 86_400;
    format!("{} {:02}:{:02} UTC", day(seconds), rest / 3_600, rest / 60 % 60)
}

/// "2026-03-01-120000": for the name of a folder.
pub fn stamp(seconds: u64) -> String {
    let rest = seconds % 86_400;
    format!("{}-{:02}{:02}{:02}", day(seconds), rest / 3_600, rest / 60 % 60, rest % 60)
}

fn day(seconds: u64) -> String {
    let days = seconds / 86_400;
    // In years that begin in March the leap day is the last day.
    let from_march = days + 719_468;
    let era = from_march / 146_097;
    let day_of_era = from_march % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_new_years_are_correct() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_772_368_500), "2026-03-01 12:35 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
        assert_eq!(stamp(1_798_761_599), "2026-12-31-235959");
    }
}

//! The name that was probably meant.

/// Of these names, the one that is nearest to what was written, if it is near enough to be meant: a letter in three may
/// differ.
pub fn meant<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = written.chars().count().div_ceil(3);
    let measured = known.into_iter().map(|name| (distance(written, name), name));
    measured.filter(|(distance, _)| *distance <= near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// " Did you mean spsc?", or nothing.
pub fn hint<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    meant(written, known).map_or(String::new(), |name| format!(" did you mean {name}?"))
}

/// Letters to insert, remove, replace or swap with the next one.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, letter) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, with) in other.iter().enumerate() {
            let mut least = (rows[i][j + 1] + 1).min(row[j] + 1).min(rows[i][j] + usize::from(letter != with));
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *with {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let names = ["spsc", "mpsc", "throughput", "latency"];
        let due = [("spcs", Some("spsc")), ("throughputt", Some("throughput")), ("ltency", Some("latency"))];
        for (written, name) in due {
            assert_eq!(meant(written, names), name, "{written}");
        }
        assert_eq!([meant("pigeon", names), meant("", names), meant("x", [])], [None; 3]);
        assert_eq!(hint("mpcs", names), " did you mean mpsc?");
        assert_eq!([distance("ab", "ba"), distance("", "abc"), distance("abc", "abc")], [1, 3, 0]);
    }
}

//! Markers: comments in the source that say why a mutant may survive.
//!
//! A marker is `// MUTANT: <reason>`. It accepts the survivors
//!
//! * of its own line, after code;
//! * of the line below it, or of the statement or match arm that begins there;
//! * of the function, implementation or trait that begins there.
//!
//! Other comments and attributes may stand between, so a marker may stand above the documentation of a function.

use std::ops::RangeInclusive;

const MARK: &str = "// MUTANT:";

/// The lines of a source, counted from 1.
pub(crate) struct Markers<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Markers<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { lines: text.lines().collect() }
    }

    /// The line and the first line of the reason of each marker.
    pub(crate) fn all(&self) -> Vec<(usize, &'a str)> {
        let mut all = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            if let Some((_, reason)) = line.split_once(MARK) {
                all.push((index + 1, reason.trim()));
            }
        }
        all
    }

    /// The line of the nearest marker that accepts a mutant: at this line, in a statement or match arm that begins at
    /// `statement`, and in items that have these lines before their bodies, the outermost first.
    pub(crate) fn covering(
        &self,
        line: usize,
        statement: Option<usize>,
        items: &[RangeInclusive<usize>],
    ) -> Option<usize> {
        if self.is_marker(line) {
            return Some(line);
        }
        if let Some(above) = self.above(line) {
            return Some(above);
        }
        if let Some(above) = statement.and_then(|statement| self.above(statement)) {
            return Some(above);
        }
        items.iter().rev().find_map(|head| {
            let within = head.clone().find(|&line| self.is_marker(line));
            within.or_else(|| self.above(*head.start()))
        })
    }

    /// The nearest marker above a line, with only comments and attributes between.
    fn above(&self, line: usize) -> Option<usize> {
        for above in (1..line).rev() {
            let text = self.lines[above - 1].trim_start();
            if !text.starts_with("//") && !text.starts_with("#[") {
                return None;
            }
            if self.is_marker(above) {
                return Some(above);
            }
        }
        None
    }

    fn is_marker(&self, line: usize) -> bool {
        self.lines.get(line - 1).is_some_and(|line| line.contains(MARK))
    }
}

#[cfg(test)]
mod tests {
    use super::Markers;
    use crate::places::Places;
    use syn::visit::Visit;

    const SOURCE: &str = "\
// MUTANT: of the implementation
impl A {
    // MUTANT: of the function
    /// Documentation.
    #[inline]
    fn f() {
        g(1);
    }

    fn h() -> bool {
        // MUTANT: of the statement
        // Another comment.
        if a
            && b
        {
            g(2); // MUTANT: of the line
            g(3);
        }
        match a {
            // MUTANT: of the arm
            B if c => d,
            _ => e,
        }
    }
}

fn i() {
    g(4);
}
";

    /// The reason, if any, that accepts each mutant of the line with this text.
    fn reasons(line: &str) -> Vec<Option<&'static str>> {
        let markers = Markers::of(SOURCE);
        let mut places = Places::default();
        places.visit_file(&syn::parse_file(SOURCE).unwrap());
        let line_of = |at: usize| SOURCE[..at].matches('\n').count() + 1;
        let wanted = line_of(SOURCE.find(line).unwrap());
        let mut reasons = Vec::new();
        for place in &places.found {
            if line_of(place.range.start) == wanted {
                let items: Vec<_> = place.items.iter().map(|head| line_of(head.start)..=line_of(head.end)).collect();
                let covering = markers.covering(wanted, place.statement.map(line_of), &items);
                let all = markers.all();
                reasons.push(covering.map(|line| all.iter().find(|marker| marker.0 == line).unwrap().1));
            }
        }
        reasons
    }

    fn is_accepted_by(line: &str, expected: Option<&str>) {
        let reasons = reasons(line);
        assert!(!reasons.is_empty(), "no mutant at {line}");
        assert!(reasons.iter().all(|&reason| reason == expected), "{reasons:?} at {line}");
    }

    #[test]
    fn all_markers_are_found() {
        let lines: Vec<usize> = Markers::of(SOURCE).all().iter().map(|marker| marker.0).collect();
        assert_eq!(lines, [1, 3, 11, 16, 20]);
    }

    #[test]
    fn a_marker_above_the_documentation_accepts_the_function() {
        is_accepted_by("fn f()", Some("of the function"));
        is_accepted_by("g(1)", Some("of the function"));
    }

    #[test]
    fn a_marker_above_an_implementation_accepts_the_rest_of_it() {
        is_accepted_by("fn h()", Some("of the implementation"));
        is_accepted_by("g(3)", Some("of the implementation"));
    }

    #[test]
    fn a_marker_above_a_statement_accepts_all_its_lines() {
        is_accepted_by("if a", Some("of the statement"));
        is_accepted_by("&& b", Some("of the statement"));
    }

    #[test]
    fn a_marker_at_the_end_of_a_line_accepts_that_line() {
        is_accepted_by("g(2)", Some("of the line"));
    }

    #[test]
    fn a_marker_above_an_arm_accepts_the_arm() {
        is_accepted_by("B if c", Some("of the arm"));
    }

    #[test]
    fn without_a_marker_nothing_is_accepted() {
        is_accepted_by("g(4)", None);
    }
}

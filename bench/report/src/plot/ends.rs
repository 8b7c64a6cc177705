//! Names of lines at the ends of the lines, moved apart until they are readable: no legend is needed.

use super::canvas::{Canvas, SMALL, width_of};
use super::colour::{Colour, Look};

pub(super) struct End<'a> {
    pub label: &'a str,
    pub look: Look,
    pub series: usize,
    /// The end of the line.
    pub at: (f64, f64),
}

/// The minimum distance of two labels.
const APART: f64 = 15.0;

/// Characters of a label: longer ones would leave no room for the lines. Hovering shows the whole name.
const LONGEST: usize = 24;

/// The room for the labels to the right of the last point.
pub(super) fn room(labels: impl Iterator<Item = usize>) -> f64 {
    let longest = labels.max().unwrap_or(0).min(LONGEST);
    width_of(&"m".repeat(longest), SMALL) + 36.0
}

/// The width of the lines: if there are many, they are thinner.
pub(super) fn stroke(lines: usize) -> f64 {
    if lines > 8 { 1.25 } else { 1.75 }
}

/// The height of `labels` labels.
pub(super) fn height(labels: usize) -> f64 {
    (labels as f64 + 1.0) * APART
}

/// Draws the labels from `x` on, between `top` and `bottom`, each tied to the end of its line.
pub(super) fn draw(canvas: &mut Canvas<'_>, mut ends: Vec<End<'_>>, x: f64, (top, bottom): (f64, f64)) {
    ends.sort_by(|a, b| a.at.1.total_cmp(&b.at.1));
    let places = apart(&ends.iter().map(|end| end.at.1).collect::<Vec<_>>(), top, bottom);
    for (end, y) in ends.iter().zip(places) {
        canvas.line(&[(end.at.0 + 4.0, end.at.1), (x - 4.0, y), (x, y)], Colour::Faint, 0.75, 0.6);
        canvas.series(Some(end.series));
        canvas.marker((x + 6.0, y), end.look, 4.0);
        canvas.over_text(&short(end.label), (x + 14.0, y), SMALL, end.look.colour);
    }
    canvas.series(None);
}

fn short(label: &str) -> String {
    match label.chars().count() {
        letters if letters <= LONGEST => label.to_owned(),
        _ => label.chars().take(LONGEST - 1).collect::<String>().trim_end().to_owned() + "…",
    }
}

/// Ascending positions with at least the minimum distance, each as near as possible to the wanted one.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    let mut least = top;
    for place in &mut places {
        *place = place.max(least);
        least = *place + APART;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - APART;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let places = apart(&[100.0, 101.0, 102.0, 299.0, 300.0], 0.0, 300.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= APART - 1e-9), "{places:?}");
        assert!(places.iter().all(|place| (0.0..=300.0).contains(place)));
    }

    #[test]
    fn a_long_label_leaves_room_for_the_lines() {
        assert_eq!(short("spsc"), "spsc");
        assert_eq!(short("spsc, asleep as soon as nothing is there"), "spsc, asleep as soon as…");
        assert!(room([4, 90].into_iter()) < 220.0);
    }

    #[test]
    fn a_label_with_room_stays_at_its_line() {
        assert_eq!(apart(&[10.0, 200.0], 0.0, 300.0), [10.0, 200.0]);
    }
}

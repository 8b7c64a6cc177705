//! The article's one picture: how often which time was taken, a colour for each design; and beside it the tail.

use super::published::{DESIGNS, Design};
use super::times;
use crate::plot::{Colour, Histogram, Look, Percentiles, Picture, Shown};
use crate::record::{Report, Session};
use crate::scenario::latency;

pub(in crate::article) fn all(report: &Report) -> Vec<(String, Picture)> {
    let Some(session) = report.session(latency::SCENARIO.name) else { return Vec::new() };
    let series: Vec<Shown<'_>> = DESIGNS.iter().filter_map(|design| shown(session, design)).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let colours = Histogram { title: "One message at a time, one way: the four designs".to_owned(), series };
    let tail = Percentiles {
        title: "The tail: what so many of the messages did not exceed".to_owned(),
        series: colours.series.clone(),
    };
    vec![("threads-colours".to_owned(), colours.picture()), ("threads-tail".to_owned(), tail.picture())]
}

/// The article's designs in the article's colours, today's channel in a colour of its own; whoever is there for
/// comparison only is in the table.
fn shown<'a>(session: &'a Session, design: &'a Design) -> Option<Shown<'a>> {
    let colour = match (design.colour, design.transport) {
        (Some("pink"), _) => Colour::Purple,
        (Some("blue"), _) => Colour::Blue,
        (Some("red"), _) => Colour::Vermilion,
        (Some(_), _) => Colour::Green,
        (None, "spsc") => Colour::Amber,
        (None, "spsc-none") => Colour::Ink,
        _ => return None,
    };
    Some(Shown { label: design.label, look: Look::plain(colour), times: times(session, design)? })
}

//! The article's one picture: a histogram with a colour for each design; and the tail.

use ybench_measure::record::{Report, Session};
use ybench_measure::scenario::latency;

use super::published::{DESIGNS, Design};
use super::times;
use crate::plot::{Colour, Histogram, Look, Percentiles, Picture, Shown};

pub(in crate::article) fn all(report: &Report) -> Vec<(String, Picture)> {
    let Some(session) = report.session(latency::SCENARIO.name) else { return Vec::new() };
    let series: Vec<Shown<'_>> = DESIGNS.iter().filter_map(|design| shown(session, design)).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let colours = Histogram { title: "One message at a time, one way: the four designs".to_owned(), series };
    let tail =
        Percentiles { title: "The tail: percentiles of all messages".to_owned(), series: colours.series.clone() };
    vec![("threads-colours".to_owned(), colours.picture()), ("threads-tail".to_owned(), tail.picture())]
}

/// The article's designs in the article's colours, today's channel in a colour of its own. Designs for comparison only
/// are in the table.
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

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::distribution::Distribution;
    use ybench_measure::outcome::Series;
    use ybench_measure::record::Details;

    /// Every design, with a thousand messages of its own time.
    fn report() -> Report {
        let times =
            |at: usize| -> Distribution { (0..1_000).map(|step| (at + 1) as f64 * 100.0 + f64::from(step)).collect() };
        let details = DESIGNS.iter().enumerate().map(|(at, design)| {
            let distributions = [(Series::Latency, times(at))].into();
            (design.transport.to_owned(), Details { distributions, ..Details::default() })
        });
        let scenario = latency::SCENARIO.name.to_owned();
        Report {
            sessions: vec![Session { scenario, details: details.collect(), ..Session::default() }],
            ..Report::default()
        }
    }

    #[test]
    fn every_colour_of_the_article_is_in_the_picture_once() {
        let report = report();
        let session = report.session(latency::SCENARIO.name).unwrap();
        let colours: Vec<Colour> = DESIGNS
            .iter()
            .filter(|design| design.colour.is_some())
            .map(|design| shown(session, design).unwrap().look.colour)
            .collect();
        assert_eq!(colours, [Colour::Purple, Colour::Blue, Colour::Vermilion, Colour::Green]);
        assert_eq!(all(&report).len(), 2);
    }

    #[test]
    fn every_row_of_the_table_has_its_figures() {
        let text = crate::table::part::terminal(&crate::article::threads::parts(&report(), 10_000.0));
        for design in &DESIGNS {
            let row = text.lines().find(|line| line.contains(design.label)).unwrap();
            assert!(!row.contains("not measured"), "{row}");
        }
    }
}

//! The article's four designs with their colours and figures, and which transport stands for each.
//!
//! The article names neither processor nor system.

/// One histogram of the article's picture.
pub(super) struct Design {
    /// As the article paints it; nothing for what is not in the article.
    pub(super) colour: Option<&'static str>,
    pub(super) label: &'static str,
    pub(super) transport: &'static str,
    /// Median in microseconds.
    pub(super) published: Option<f64>,
}

const fn design(colour: &'static str, label: &'static str, transport: &'static str, published: f64) -> Design {
    Design { colour: Some(colour), label, transport, published: Some(published) }
}

const fn beside(label: &'static str, transport: &'static str) -> Design {
    Design { colour: None, label, transport, published: None }
}

pub(super) const DESIGNS: [Design; 11] = [
    design("pink", "D's mailboxes: any type, priority", "mailbox", 5.0),
    design("blue", "a mutex, and a reader that never sleeps", "mutex-spin", 0.4),
    design("red", "a mutex and a condition variable", "mutex-condvar-asleep", 3.0),
    design("green", "an event loop that is given functions", "hub", 4.3),
    beside("any type in a box, a mutex and a condition variable", "condvar-any-asleep"),
    beside("functions in boxes, a mutex, eventfd and epoll", "mutex-eventfd-loop"),
    beside("spsc, asleep as soon as nothing is there", "spsc-none"),
    beside("spsc, looking a little first", "spsc"),
    beside("spsc, never asleep", "spsc-forever"),
    beside("std::sync::mpsc::channel", "std-channel"),
    beside("crossbeam-channel, unbounded", "crossbeam-unbounded"),
];

/// "2-3 messages per 1000 were processed anomalously for a long time."
pub(super) const PUBLISHED_OUTLIERS: &str = "2 to 3";

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_core::transport::registry;

    #[test]
    fn every_design_is_measured_on_a_transport_that_there_is() {
        for design in &DESIGNS {
            assert!(registry::named(design.transport).is_some(), "{}", design.transport);
        }
    }

    #[test]
    fn a_colour_of_the_article_has_its_figure() {
        let colours: Vec<&str> = DESIGNS.iter().filter_map(|design| design.colour).collect();
        assert_eq!(colours, ["pink", "blue", "red", "green"]);
        assert!(DESIGNS.iter().all(|design| design.colour.is_some() == design.published.is_some()));
    }
}

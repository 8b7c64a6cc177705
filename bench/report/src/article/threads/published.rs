//! The article's four designs with their colours and figures, and the transport for each.
//!
//! The article names neither processor nor system. Its readers sleep, except the blue one, so ours of the same colour
//! sleep at once. The same with a little spinning are rows of their own.

/// One histogram of the article's picture.
pub(super) struct Design {
    /// The article's colour; `None` for a design that is not in the article.
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

pub(super) const PINK: &str = "mailbox-none";
pub(super) const BLUE: &str = "mutex-spin";
pub(super) const RED: &str = "mutex-condvar-asleep";
pub(super) const GREEN: &str = "hub-none";

pub(super) const YIELDS: &str = "mutex-yield";
pub(super) const USLEEPS: &str = "mutex-usleep";
/// Without a lock, asleep at once.
pub(super) const WITHOUT_LOCKS: &str = "spsc-none";

pub(super) const DESIGNS: [Design; 17] = [
    design("pink", "D's mailboxes: any type, priority", PINK, 5.0),
    design("blue", "a mutex, and a reader that never sleeps", BLUE, 0.4),
    design("red", "a mutex and a condition variable", RED, 3.0),
    design("green", "an event loop that is given functions", GREEN, 4.3),
    beside("a mutex, and a reader that yields", YIELDS),
    beside("a mutex, and a reader that sleeps for 1 us", USLEEPS),
    beside("mailboxes with messages of three types, one of them urgent", "mailbox-types"),
    beside("mailboxes, spinning a little before they sleep", "mailbox"),
    beside("an event loop with sockets and timers alive on it", "hub-loaded"),
    beside("an event loop, spinning a little before it sleeps", "hub"),
    beside("any type in a box, a mutex and a condition variable", "condvar-any-asleep"),
    beside("functions in boxes, a mutex, eventfd and epoll", "mutex-eventfd-loop"),
    beside("spsc, asleep at once", WITHOUT_LOCKS),
    beside("spsc, spinning a little first", "spsc"),
    beside("spsc, never asleep", "spsc-forever"),
    beside("std::sync::mpsc::channel", "std-channel"),
    beside("crossbeam-channel, unbounded", "crossbeam-unbounded"),
];

/// Whether a design is measured if a figure takes long: those of the article, one channel of ours and one of the
/// standard library.
pub(super) fn is_one_of_few(transport: &str) -> bool {
    const BESIDE: [&str; 2] = ["spsc-none", "std-channel"];
    let mut few = DESIGNS.iter().filter(|design| design.colour.is_some() || BESIDE.contains(&design.transport));
    few.any(|design| design.transport == transport)
}

/// "2-3 messages per 1000 were processed anomalously for a long time."
pub(super) const PUBLISHED_OUTLIERS: &str = "2 to 3";

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::registry;
    use ybench_measure::transport::Waits;

    #[test]
    fn every_design_is_measured_on_a_transport_that_there_is() {
        for design in &DESIGNS {
            assert!(registry::named(design.transport).is_some(), "{}", design.transport);
        }
    }

    #[test]
    fn the_few_are_the_articles_own_and_two_channels() {
        let few: Vec<&str> =
            registry::all().iter().map(|one| one.traits.name).filter(|name| is_one_of_few(name)).collect();
        assert_eq!(few.len(), 6);
        assert!([PINK, BLUE, RED, GREEN].iter().all(|colour| few.contains(colour)), "{few:?}");
    }

    #[test]
    fn a_colour_of_the_article_has_its_figure() {
        let colours: Vec<&str> = DESIGNS.iter().filter_map(|design| design.colour).collect();
        assert_eq!(colours, ["pink", "blue", "red", "green"]);
        assert!(DESIGNS.iter().all(|design| design.colour.is_some() == design.published.is_some()));
    }

    #[test]
    fn designs_are_compared_and_not_ways_of_waiting() {
        let waits = |name| registry::named(name).unwrap().traits.waits;
        assert_eq!(waits(BLUE), Waits::Spins);
        assert_eq!(waits(YIELDS), Waits::Yields);
        assert_eq!(waits(WITHOUT_LOCKS), waits(RED));
        assert_eq!([PINK, RED].map(waits), [Waits::Sleeps; 2]);
        assert_eq!(waits(GREEN), Waits::SleepsInPoll);
    }
}

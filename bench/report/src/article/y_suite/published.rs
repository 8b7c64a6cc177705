//! The figures of the article, and the transport for each of its rows.
//!
//! Measured there on an Athlon 64 X2 3800+ with Linux 2.6.22.

/// A row of a table: the article's name, the transport that stands for it, the published figures if there are any.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) label: &'static str,
    pub(super) transport: &'static str,
    pub(super) published: Option<Published>,
}

#[derive(Clone, Copy)]
pub(super) struct Published {
    /// Nanoseconds per message.
    pub(super) density: f64,
    /// Messages per second.
    pub(super) throughput: f64,
}

pub(super) const SOCKETS: &str = "unix-stream";
pub(super) const SOCKETS_POLLED: &str = "unix-stream-poll";
pub(super) const WITH_POLLING: &str = "ypipe-ypollset";
pub(super) const WITHOUT_POLLING: &str = "ypipe-ysemaphore";
pub(super) const WITH_DESCRIPTOR: &str = "ypipe-ysocketpair";

/// All transports of the article's two scenarios.
pub(super) const TRANSPORTS: [&str; 6] =
    [SOCKETS, SOCKETS_POLLED, WITH_POLLING, WITHOUT_POLLING, WITH_DESCRIPTOR, "spsc"];

const fn row(label: &'static str, transport: &'static str, density: f64, throughput: f64) -> Row {
    Row { label, transport, published: Some(Published { density, throughput }) }
}

const fn unpublished(label: &'static str, transport: &'static str) -> Row {
    Row { label, transport, published: None }
}

pub(super) const WORST_WITH_POLLING: [Row; 2] =
    [row("local sockets", SOCKETS, 6352.0, 157_430.0), row("y-suite", WITH_POLLING, 3555.0, 281_294.0)];

pub(super) const STREAM_WITH_POLLING: [Row; 2] =
    [row("local sockets", SOCKETS, 1926.0, 519_210.0), row("y-suite", WITH_POLLING, 292.0, 3_424_658.0)];

pub(super) const WORST_WITHOUT_POLLING: [Row; 3] = [
    row("local sockets", SOCKETS, 6352.0, 157_430.0),
    row("y-suite (with poll)", WITH_POLLING, 3555.0, 281_294.0),
    row("y-suite (without poll)", WITHOUT_POLLING, 3079.0, 324_780.0),
];

pub(super) const STREAM_WITHOUT_POLLING: [Row; 3] = [
    row("local sockets", SOCKETS, 1926.0, 519_210.0),
    row("y-suite (with poll)", WITH_POLLING, 292.0, 3_424_658.0),
    row("y-suite (without poll)", WITHOUT_POLLING, 263.0, 3_802_281.0),
];

/// Transports that the article mentions without measuring them, and later ones.
pub(super) const BESIDE: [Row; 4] = [
    unpublished("local sockets", SOCKETS),
    unpublished("local sockets, real poll", SOCKETS_POLLED),
    unpublished("y-suite (ysocketpair)", WITH_DESCRIPTOR),
    unpublished("spsc channel of today", "spsc"),
];

/// "It yields best results for batches of 30-60 messages."
pub(super) const BEST_BATCHES: (f64, f64) = (30.0, 60.0);

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::registry;

    #[test]
    fn every_row_has_a_transport_and_its_two_figures_agree() {
        let tables: [&[Row]; 5] =
            [&WORST_WITH_POLLING, &STREAM_WITH_POLLING, &WORST_WITHOUT_POLLING, &STREAM_WITHOUT_POLLING, &BESIDE];
        for row in tables.concat() {
            assert!(registry::named(row.transport).is_some(), "{}", row.transport);
            assert!(TRANSPORTS.contains(&row.transport), "{}", row.transport);
            if let Some(published) = row.published {
                // The article's own figures agree to within their rounding.
                assert!((1e9 / published.density / published.throughput - 1.0).abs() < 0.001, "{}", row.label);
            }
        }
    }
}

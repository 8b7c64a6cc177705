//! The transports of each scenario, their numbers of messages, and the ranking figures.

use std::time::Duration;

use ybench_measure::clock;
use ybench_measure::outcome::{Metric, Series};
use ybench_measure::record::{Parameter, Quantity};
use ybench_measure::registry;
use ybench_measure::rounds::Length;
use ybench_measure::scenario::crowd::{Crowd, Work};
use ybench_measure::scenario::{Scenario, burst, crowd, neighbours, overrun, receivers, senders, size, traffic};
use ybench_measure::transport::{Shape, Waits};

use crate::{frame, place};

fn able(scenario: &Scenario, name: &str) -> bool {
    (scenario.able)(&registry::named(name).unwrap().traits)
}

#[test]
fn a_transport_that_says_many_can_take_part_has_a_driver_for_them() {
    for entry in registry::all().iter().filter(|entry| entry.traits.waits != Waits::Suspends) {
        let one_to_one = !Shape::square(2).fits(entry.traits.senders, entry.traits.receivers)
            && !Shape::new(2, 1).fits(entry.traits.senders, entry.traits.receivers);
        assert_eq!(entry.many.is_none(), one_to_one, "{}", entry.traits.name);
    }
}

#[test]
fn two_spinning_sides_are_left_out_of_a_crowd_and_one_is_not() {
    let streams = |name| able(&crowd::SCENARIO, name);
    assert!(!streams("rtrb-1k") && !streams("rtrb-64k"));
    for name in ["mutex-spin", "spsc-forever", "spsc-bounded", "unix-stream"] {
        assert!(streams(name), "{name}");
    }
    let bounced = |name| able(&crowd::BOUNCED, name);
    assert!(bounced("spsc-bounded") && !bounced("mutex-spin") && !bounced("spsc-forever"));
}

#[test]
fn a_transport_with_one_receiver_is_left_out_where_there_are_more() {
    let able = |name| able(&receivers::SCENARIO, name);
    assert!(able("mpmc") && able("crossbeam-bounded") && able("mutex-condvar"));
    assert!(!able("mpsc") && !able("std-channel") && !able("spsc") && !able("mpmc-spin"));
    let last = receivers::SCENARIO.parameters.last().copied();
    assert_eq!((receivers::SCENARIO.shape)(last), Shape::new(1, 64));
}

#[test]
fn a_bound_excludes_from_bursts_and_so_does_having_no_queue() {
    let able = |name| able(&burst::SCENARIO, name);
    assert!(able("spsc") && able("mutex-spin"));
    assert!(!able("spsc-bounded") && !able("unix-stream") && !able("rtrb-64k") && !able("empty"));
}

#[test]
fn a_run_never_has_fewer_messages_than_the_backlog() {
    let entry = registry::named("spsc").unwrap();
    let backlog = Parameter { quantity: Quantity::Backlog, value: 1e4 };
    let length = |length| (burst::SCENARIO.contender)(entry, Some(backlog), frame(place(), length)).length;
    let second = Duration::from_secs(1);
    assert_eq!(length(Length::Units(300)), Length::Units(10_000));
    assert_eq!(length(Length::Time(second)), Length::TimeAndUnits(second, 10_000));
}

#[test]
fn a_crowd_of_senders_has_time_to_start_and_something_to_send() {
    let short = Length::Time(Duration::from_millis(1));
    let entry = registry::named("mpsc").unwrap();
    let of = |count| senders::contender(entry, Shape::new(count, 1), frame(place(), short)).length;
    assert_eq!(of(99), Length::TimeAndUnits(Duration::from_millis(10), 6_400));
    assert_eq!(of(1) == short, !place().one_cpu());
}

#[test]
fn with_neighbours_every_message_is_timed_and_the_slow_ones_rank() {
    if clock::one_way(place()).is_err() {
        return;
    }
    for name in ["mutex-spin", "mutex-condvar-asleep"] {
        let entry = registry::named(name).unwrap();
        let contender = (neighbours::SCENARIO.contender)(entry, None, frame(place(), Length::Units(100)));
        let outcome = (contender.run)(100).unwrap();
        assert_eq!(outcome.distributions[&Series::Latency].count(), 100, "{name}");
        assert_eq!(outcome.nanoseconds, outcome.metrics[&Metric::P90], "{name}");
        assert!(outcome.nanoseconds >= outcome.metrics[&Metric::Median], "{name}");
    }
}

#[test]
fn only_queues_without_a_bound_overrun_and_all_send_as_much() {
    let short = Length::Time(Duration::from_millis(1));
    for entry in registry::here().filter(|entry| (overrun::SCENARIO.able)(&entry.traits)) {
        assert!(!entry.traits.bounded, "{}", entry.traits.name);
        let contender = (overrun::SCENARIO.contender)(entry, None, frame(place(), short));
        assert!(matches!(contender.length, Length::Units(overrun::MESSAGES)), "{:?}", contender.length);
    }
}

#[test]
fn every_size_has_a_driver_every_way() {
    let entry = registry::named("spsc").unwrap();
    for &parameter in size::SCENARIO.parameters {
        assert_eq!((entry.size)(place(), parameter, 10).unwrap().units, 10);
    }
}

#[test]
fn the_two_halves_of_a_burst_add_up() {
    let entry = registry::named("spsc").unwrap();
    let outcome = (entry.burst)(place(), 1_000, 1_000).unwrap();
    assert_eq!(outcome.nanoseconds, outcome.metrics[&Metric::Fill] + outcome.metrics[&Metric::Drain]);
}

#[test]
fn every_message_of_every_shape_is_timed() {
    if clock::one_way(place()).is_err() {
        return;
    }
    let entry = registry::named("spsc").unwrap();
    for traffic in &traffic::SHAPES {
        let outcome = (entry.traffic)(place(), 300, traffic).unwrap();
        assert_eq!(outcome.distributions[&Series::Latency].count(), 300, "{}", traffic.name);
        assert!(outcome.nanoseconds > 0.0, "{}", traffic.name);
    }
}

#[test]
fn every_pair_of_a_crowd_is_timed_and_the_slowest_are_reported() {
    if clock::one_way(place()).is_err() {
        return;
    }
    for kept in [false, true] {
        for name in ["spsc", "std-channel"] {
            let entry = registry::named(name).unwrap();
            let outcome = (entry.crowd)(place(), Crowd { threads_per_cpu: 4, kept }, Work::Bounces, 401).unwrap();
            let of = |metric| outcome.metrics[&metric];
            assert!(outcome.nanoseconds > 0.0 && outcome.nanoseconds == of(Metric::Median));
            assert!(of(Metric::Median) <= of(Metric::P99) && of(Metric::P99) <= of(Metric::P999));
            assert!(of(Metric::P999) <= of(Metric::Maximum));
        }
    }
}

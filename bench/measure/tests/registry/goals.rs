//! Every name in a target is measured, and delivers every message.

use ybench_measure::goals::{Run, asynchronous, first_of, functions, named, news, once, plans, pool, steady};
use ybench_measure::place::Place;
use ybench_measure::rounds::Length;

use crate::{frame, place};

/// Whether each has a figure in its session.
fn assert_measured(names: impl Iterator<Item = (&'static str, &'static str)>) {
    let plans = plans(frame(Place { first: 0, second: 1 }, Length::Units(1)));
    for (session, name) in names {
        let plan = plans.iter().find(|plan| plan.scenario == session).unwrap();
        let mut measured = plan.contenders.iter().chain([&plan.floor]).map(|one| one.contestant.name.as_str());
        assert!(measured.any(|one| one == name), "{session}: {name}");
    }
}

#[test]
fn every_name_of_a_target_is_measured_in_its_session() {
    assert_measured(named());
}

#[test]
fn all_that_must_be_steady_are_measured() {
    assert_measured(steady());
}

/// Whether each run delivers all of a number of messages, on two CPUs and on one.
fn assert_all_run(runs: &[(&str, Run)], messages: u64) {
    for place in [place(), place().together()] {
        for (name, run) in runs {
            assert_eq!(run(place, messages).unwrap_or_else(|fault| panic!("{name} {fault}")).units, messages);
        }
    }
}

#[test]
fn a_task_receives_every_message() {
    assert_all_run(&asynchronous::contenders(), 5_000);
}

#[test]
fn every_message_is_taken_from_the_first_of_several() {
    assert_all_run(&first_of::contenders(), 5_000);
}

#[test]
fn every_function_is_run() {
    assert_all_run(&functions::contenders(), 5_000);
}

#[test]
fn every_receiver_gets_every_message() {
    assert_all_run(&news::contenders(), 5_000);
}

#[test]
fn every_message_comes_by_a_channel_of_its_own() {
    assert_all_run(&once::contenders(), 2_000);
}

#[test]
fn every_block_comes_over_with_what_was_written_to_it() {
    assert_all_run(&pool::contenders(), 5_000);
}

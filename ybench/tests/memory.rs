//! What is said about memory, in a process where nobody else takes or frees any: this file has one test.
#![cfg(target_os = "linux")]

use std::hint::black_box;

use ybench::memory::{resident, resident_and_used};
use ybench::outcome::Metric;
use ybench::place::Place;
use ybench::scenario::burst;
use ybench::transport::registry;

#[test]
fn memory_is_seen_where_it_is_taken_and_where_it_is_taken_again() {
    touched_pages_are_resident();
    what_was_freed_and_kept_counts_again_when_it_is_taken();
    a_burst_holds_at_least_its_messages_time_and_again();
}

fn touched_pages_are_resident() {
    const BYTES: usize = 64 << 20;
    let before = resident().unwrap();
    let touched = black_box(vec![1u8; BYTES]);
    let taken = resident().unwrap() - before;
    assert!((1.0..1.1).contains(&(taken / BYTES as f64)), "{taken}");
    drop(touched);
}

fn what_was_freed_and_kept_counts_again_when_it_is_taken() {
    const BLOCKS: usize = 4_096;
    // Small blocks, and one above them, so that the allocator keeps what is freed.
    let blocks = || (0..BLOCKS).map(|_| black_box(vec![1u8; 4_000])).collect::<Vec<_>>();
    let first = blocks();
    let above = black_box(vec![1u8; 4_000]);
    drop(first);
    let before = resident_and_used().unwrap();
    let again = blocks();
    let taken = (resident().unwrap() - before) / (BLOCKS * 4_000) as f64;
    assert!((1.0..1.1).contains(&taken), "{taken}");
    drop((again, above));
}

/// The second and third run of each find what the first has left with the allocator.
fn a_burst_holds_at_least_its_messages_time_and_again() {
    let place = Place::choose(None).unwrap();
    for entry in registry::all().iter().filter(|entry| (burst::SCENARIO.able)(&entry.traits)) {
        for run in 1..=3 {
            let outcome = (entry.burst)(place, 1_000_000, 1_000_000).unwrap();
            let held = outcome.metrics[&Metric::BytesHeld];
            // Nobody needs more than a pointer beside each message, and room for as many again; the rest of the process
            // may have given up some pages meanwhile.
            assert!((7.5..33.0).contains(&held), "{}, run {run}: {held}", entry.traits.name);
        }
    }
}

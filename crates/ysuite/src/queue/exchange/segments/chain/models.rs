//! The chain under the model checker, without the queue around it. Segments have two slots here.

use loom::thread;

use super::super::layout::{Place, SegmentLayout};
use super::{Chain, Walk};
use crate::runner::model_up_to;
use crate::sync::{Arc, Ordering};

/// Links a segment of this number, the next, at the end.
fn lengthen(chain: &Chain<u32>, number: u64) {
    let Walk::End(end, missing) = chain.find(None, number) else { panic!("the chain ends elsewhere") };
    assert!(missing == number && chain.extend(end, number));
}

/// A chain whose first segment has had messages.
fn begun() -> Arc<Chain<u32>> {
    let chain = Chain::new();
    chain.directory.get(0).begin::<u32>();
    Arc::new(chain)
}

/// A thread that walks along the chain is in a segment that is retired, used again, and then linked to another one: not
/// the one that it searches.
#[test]
fn a_walk_through_a_segment_that_is_used_again_begins_anew() {
    model_up_to(2, || {
        let chain = begun();
        lengthen(&chain, 1);
        let other = chain.clone();
        let thread = thread::spawn(move || {
            let first = other.directory.get(0);
            let Walk::Found(found) = other.find(Some(first), 1) else { panic!("it stays in the chain") };
            assert!(found.has(1));
        });
        let first = chain.directory.get(0);
        let (marks, lap) = (first.marks::<u32>(), first.lap());
        // As if all of its messages had been read.
        (0..SegmentLayout::<u32>::ALL as u64).for_each(|at| marks.get(Place::of(at)).store(lap, Ordering::Release));
        chain.retire(|| (1, 1));
        (2..4).for_each(|number| lengthen(&chain, number));
        assert!(first.has(2), "it is the one that is used again");
        thread.join().unwrap();
    });
}

/// Each has a segment at hand: one of them is linked, and the other is left for the next thread that needs one.
#[test]
fn who_comes_too_late_to_extend_the_chain_puts_its_segment_back() {
    model_up_to(2, || {
        let chain = begun();
        let extend = |chain: &Chain<u32>| assert!(chain.extend(&chain.directory.get(0).next, 1));
        let other = chain.clone();
        let thread = thread::spawn(move || extend(&other));
        extend(&chain);
        thread.join().unwrap();
        let next = chain.directory.take().expect("three are not too many");
        assert!(next.index() <= 2, "a segment is lost");
    });
}

/// The thread that comes meanwhile leaves a request; the other repeats its work, and sees what that one has finished.
#[test]
fn a_segment_that_two_empty_at_once_is_retired() {
    model_up_to(2, || {
        let chain = begun();
        lengthen(&chain, 1);
        let empty = |chain: &Chain<u32>, at: u64| {
            let first = chain.directory.get(0);
            first.marks::<u32>().get(Place::of(at)).store(first.lap(), Ordering::Release);
            chain.retire(|| (1, 1));
        };
        let other = chain.clone();
        let thread = thread::spawn(move || empty(&other, 1));
        empty(&chain, 0);
        thread.join().unwrap();
        assert!(chain.directory.get(0).number().is_none(), "neither has retired it");
    });
}

/// A thread that remembers it from an earlier use finds it by its number alone, and sends there: all must find it by
/// the link.
#[test]
fn a_segment_that_has_its_number_is_found_from_the_one_before() {
    model_up_to(2, || {
        let chain = begun();
        // It has been made, and is remembered by the other.
        chain.directory.put_back(chain.directory.take().expect("six are not too many"));
        let other = chain.clone();
        let thread = thread::spawn(move || {
            if other.directory.get(1).has(1) {
                assert!(matches!(other.find(None, 1), Walk::Found(_)), "the chain ends before it");
            }
        });
        lengthen(&chain, 1);
        thread.join().unwrap();
    });
}

#[test]
fn a_free_segment_is_taken_with_what_is_below_it() {
    model_up_to(2, || {
        let chain = begun();
        let take = |chain: &Chain<u32>| chain.directory.take().expect("six are not too many").index();
        let two = [take(&chain), take(&chain)];
        let other = chain.clone();
        let thread = thread::spawn(move || take(&other));
        for index in two {
            chain.directory.put_back(chain.directory.get(index));
        }
        let taken = [thread.join().unwrap(), take(&chain), take(&chain)];
        assert!(two.iter().all(|index| taken.contains(index)), "a segment is lost: {taken:?}");
    });
}

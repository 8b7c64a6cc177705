//! Suite: crossbeam-channel tests/after.rs; upstream 14, carried over here 14, excluded 0.

use ysuite::timer::after;

use crate::common::timers;

carried! {
    fire => timers::fires(after);
    capacity => timers::room_for_one(after);
    len_empty_full => timers::empty_and_full(after);
    try_recv => timers::asked(after);
    recv => timers::fires(after);
    recv_timeout => timers::waited_for(after);
    recv_two => timers::two_for_two(after);
    recv_race => timers::the_sooner(after);
    stress_default => timers::without_waiting(after);
    select => timers::many_timers_many_threads;
    ready => timers::many_timers_many_threads;
    stress_clone => timers::clones_share_the_tick;
    fairness => timers::each_has_its_turn(after);
    fairness_duplicates => timers::places_have_their_turns(after);
}

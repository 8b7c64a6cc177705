//! How the accounts of a round are compared, when all of its processes have ended. What a process has written down is
//! what it had done: one that was killed may have done one thing more.

use std::sync::atomic::Ordering;

use crate::board::{Ending, Line, Word};
use crate::parts::CREDIT;
use crate::round::{Fate, Known, Round};

const CLOSED: u64 = Ending::Closed as u64;
const DIED: u64 = Ending::Died as u64;

/// Whether `more` is `less`, or one more where that may be.
fn is_one_more(more: u64, less: u64, may_be: bool) -> bool {
    more == less || may_be && more == less + 1
}

/// How a home has noticed the end of a member.
fn is_noticed(noticed: u64, known: Known) -> bool {
    match noticed {
        DIED => known.was_killed,
        // It was killed in its drop, or behind it.
        CLOSED => known.was_told,
        _ => false,
    }
}

/// Members that ask: each call is ended once, and the caller that learns of the end of the home has all that the home has ended.
pub(crate) fn of_calls(round: &Round) {
    of_senders(round);
    for known in round.known.iter().copied() {
        let get = |word| round.board.get(known.line, word);
        let (seen, ended, received, end) = (get(Word::Moves), get(Word::Other), get(Word::Received), get(Word::End));
        let whose = format!("{:?}: {received} received, {ended} ended, {seen} seen, {end}", known.line);
        assert!(ended <= received, "{whose}");
        assert!(seen <= ended || is_one_more(seen, ended, round.fate == Fate::Killed), "{whose}");
        if end == CLOSED || end == DIED {
            assert!(seen >= ended, "{whose}");
        }
    }
}

/// Members that send: what they have sent is received, or comes back.
pub(crate) fn of_senders(round: &Round) {
    for known in round.known.iter().copied() {
        let get = |word| round.board.get(known.line, word);
        let (sent, received, first, noticed) =
            (get(Word::Sent), get(Word::Received), get(Word::First), get(Word::Noticed));
        let whose = format!("{:?}: {sent} sent, {received} received, back from {first}, {noticed}", known.line);
        assert!(received <= sent || is_one_more(received, sent, known.was_killed), "{whose}");
        if noticed != 0 {
            assert!(is_noticed(noticed, known) && received >= sent, "{whose}");
        } else {
            assert!(round.fate != Fate::LeftAlone || sent == 0, "the home has not noticed its end: {whose}");
        }
        if first != 0 {
            // The home may have received one that it has not written down.
            assert!(is_one_more(first - 1, received, round.fate == Fate::Killed), "{whose}");
        }
    }
}

/// A home that sends to one member after the other.
pub(crate) fn of_turns(round: &Round) {
    for known in round.known.iter().copied() {
        let own = |word| round.board.get(known.line, word);
        let (received, turn, end) = (own(Word::Received), own(Word::Other), own(Word::End));
        if turn == 0 {
            continue;
        }
        let home = |word| round.board.get(Line::of(turn - 1), word);
        let (sent, first, noticed) = (home(Word::Sent), home(Word::First), home(Word::Noticed));
        let whose = format!("{:?}: {sent} sent, {received} received, back from {first}, {noticed}", known.line);
        assert!(received <= sent || is_one_more(received, sent, round.fate == Fate::Killed), "{whose}");
        if end == CLOSED || end == DIED {
            assert!(received >= sent, "{whose}");
        }
        if noticed != 0 {
            assert!(is_noticed(noticed, known), "{whose}");
            // It may have received one that it has not written down.
            assert!(is_one_more(first - 1, received, known.was_killed), "{whose}");
        } else {
            assert!(round.fate != Fate::LeftAlone, "the home has not noticed its end: {whose}");
        }
    }
}

/// Members of a broadcast or a watch: who lives longer than the home has all.
pub(crate) fn of_receivers(round: &Round) {
    let sent = round.board.get(Line::HOME, Word::Sent);
    for known in round.known.iter().copied() {
        let get = |word| round.board.get(known.line, word);
        let (first, received, end) = (get(Word::First), get(Word::Received), get(Word::End));
        let whose = format!("{:?}: {sent} sent, {received} received from {first} on, {end}", known.line);
        assert!(received <= sent || is_one_more(received, sent, round.fate == Fate::Killed), "{whose}");
        if first != 0 && (end == CLOSED || end == DIED) {
            assert!(received >= sent, "{whose}");
        }
    }
}

/// Jobs: begun once, and once more for each that was given back or was in the hand of a worker that was killed.
pub(crate) fn of_work(round: &Round) {
    let sum = |word| round.known.iter().map(|known| round.board.get(known.line, word)).sum::<u64>();
    let killed = round.known.iter().filter(|known| known.was_killed).count() as u64;
    let told = round.known.iter().filter(|known| known.was_told).count() as u64;
    let (sent, given_back) = (round.board.get(Line::HOME, Word::Sent), sum(Word::Other));
    // ORDERING: SeqCst; a test.
    let begun = |job| u64::from(round.board.begun(job).load(Ordering::SeqCst));
    let never = (0..sent).filter(|job| begun(*job) == 0).count() as u64;
    let again = (0..=sent).map(|job| begun(job).saturating_sub(1)).sum::<u64>();
    let whose = format!("{sent} sent, {never} never begun, {again} again; {given_back} given back, {killed} killed");
    assert!(again <= given_back + killed, "{whose}");
    // What a worker that has gone had, or has given back, may wait in a home that has gone as well.
    let may_wait = if round.fate == Fate::LeftAlone { 0 } else { given_back + (killed + told) * CREDIT as u64 };
    assert!(never <= may_wait, "{whose}");
    assert!(round.fate != Fate::LeftAlone || sum(Word::Received) >= sent - killed.min(sent), "{whose}");
}

//! [`Account`]: which messages of a stream have been acknowledged, by whichever bridges were connected meanwhile.
//!
//! A header says of a stream up to where it has come, and how many of those before never came: the difference of the
//! two is what that bridge has received, plus a constant, so only changes count. It is stored for each bridge
//! separately. So a bridge that comes back neither counts twice, nor is charged with what another was sent meanwhile.

use super::header::Header;
use super::known::Known;

pub(super) struct Account {
    /// A message may be sent to several bridges.
    keeps: bool,
    /// All before it have been acknowledged, or are in `lost`.
    acknowledged: u64,
    /// Messages before that which were never acknowledged.
    lost: u64,
    said: Known<Said>,
}

/// What a bridge has said.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// What it has received, plus a constant; nothing before its first answer. Where nothing is kept.
    received: Option<u64>,
    /// Those that never came to it and are in [`Account::lost`]. Where messages are kept.
    missing: u64,
}

impl Account {
    pub(super) fn new(keeps: bool) -> Self {
        Self { keeps, acknowledged: 0, lost: 0, said: Known::new(Said::default()) }
    }

    /// All before it have been received by some bridge, or never will be.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Messages before this number that were never acknowledged.
    pub(super) fn unanswered(&self, next: u64) -> u64 {
        self.lost.saturating_add(next - self.acknowledged)
    }

    /// Another bridge has taken the place of the other side's, and can be sent the stream from this number on. Returns
    /// how many messages were in transit to the bridge that is gone, and will not be sent again.
    pub(super) fn begin(&mut self, session: u64, first: u64) -> u64 {
        let gone = first.saturating_sub(self.acknowledged);
        self.lost = self.lost.saturating_add(gone);
        // It may be sent a part of what the one before it had acknowledged: frames are kept whole.
        self.acknowledged = first;
        self.said.meet(session, |_| Said::default());
        gone
    }

    /// The other side has sent its state of the stream, whose next new message has this number. `answers`: it has
    /// received the last hello, so its state is current.
    pub(super) fn hear(&mut self, header: &Header, next: u64, answers: bool) {
        // No later than what was sent, whatever its header has.
        let expected = header.expected.min(next);
        let fresh = expected.saturating_sub(self.acknowledged);
        self.acknowledged += fresh;
        let said = &mut self.said.present;
        if self.keeps {
            // What is sent to several counts once: only what is acknowledged by this header can be missing by it.
            if answers {
                // It says fewer where it has forgotten this stream.
                said.missing = said.missing.min(header.lost);
            }
            let missing = header.lost.saturating_sub(said.missing).min(fresh);
            said.missing += missing;
            self.lost = self.lost.saturating_add(missing);
        } else {
            // Each message was sent to one bridge: what it has more than before no other bridge had before.
            let received = expected.saturating_sub(header.lost);
            if answers {
                let before = said.received.get_or_insert(received);
                *before = received.min(*before);
            }
            self.lost = self.lost.saturating_add(fresh);
            if let Some(before) = &mut said.received {
                self.lost = self.lost.saturating_sub(received.saturating_sub(*before));
                *before = received.max(*before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::{Flags, Kind};
    use super::*;

    const NEXT: u64 = 100;

    fn said(expected: u64, lost: u64) -> Header {
        let (kind, flags) = (Kind::Answer, Flags::default());
        Header { kind, flags, messages: 0, session: 1, number: 0, of: 2, expected, limit: 0, lost }
    }

    /// This many messages before the number have not been received, as far as is known.
    #[track_caller]
    fn expect(account: &Account, next: u64, unanswered: u64) {
        assert_eq!((account.acknowledged(), account.unanswered(next)), (next, unanswered));
    }

    /// Nothing is kept: messages in transit to a bridge that left are settled when it comes back, whatever another was
    /// sent.
    #[test]
    fn one_that_comes_back_acknowledges_what_it_had() {
        let mut account = Account::new(false);
        assert_eq!(account.begin(1, 0), 0);
        account.hear(&said(0, 0), 10, true);
        account.hear(&said(3, 1), 10, false);
        assert_eq!(account.unanswered(10), 8);
        // Ten are sent to the first, five to the second.
        assert_eq!(account.begin(2, 10), 7);
        account.hear(&said(10, 0), 10, true);
        account.hear(&said(15, 0), 15, false);
        expect(&account, 15, 8);
        assert_eq!(account.begin(1, 15), 0);
        // Nine had come, and one had not. Then it hears where the stream is now.
        account.hear(&said(10, 1), 15, false);
        expect(&account, 15, 1);
        account.hear(&said(15, 6), 15, true);
        expect(&account, 15, 1);
        // And once more, with nothing new, and with one more that is lost.
        account.begin(2, 15);
        account.hear(&said(15, 0), 15, true);
        account.begin(1, 15);
        account.hear(&said(15, 6), 15, true);
        expect(&account, 15, 1);
        account.hear(&said(17, 7), 17, false);
        expect(&account, 17, 2);
    }

    /// What an older header says, read after a newer one, changes nothing.
    #[test]
    fn what_was_said_before_is_not_heard() {
        let mut account = Account::new(false);
        account.begin(1, 0);
        account.hear(&said(0, 0), 10, true);
        account.hear(&said(8, 0), 10, false);
        account.hear(&said(5, 0), 10, false);
        account.hear(&said(10, 0), 10, false);
        expect(&account, 10, 0);
    }

    /// A bridge that has forgotten this stream counts all that came before as lost, or reports nothing: neither
    /// acknowledges anything.
    #[test]
    fn nothing_is_received_because_a_peer_has_forgotten() {
        for lost in [10, 0] {
            let mut account = Account::new(false);
            account.begin(1, 0);
            account.hear(&said(0, 0), 10, true);
            account.begin(2, 10);
            account.hear(&said(10, lost), 10, true);
            expect(&account, 10, 10);
            account.hear(&said(12, lost), 12, false);
            expect(&account, 12, 10);
        }
        let mut account = Account::new(false);
        account.begin(1, 0);
        account.hear(&said(0, 0), 10, true);
        account.hear(&said(4, 0), 10, false);
        account.hear(&said(10, 10), 10, true);
        expect(&account, 10, 6);
        account.hear(&said(12, 10), 12, false);
        expect(&account, 12, 6);
    }

    /// Messages are kept: both are sent the same, and what never came to one may have come to the other.
    #[test]
    fn what_several_are_sent_counts_once() {
        let mut account = Account::new(true);
        account.begin(1, 0);
        account.hear(&said(0, 0), 10, true);
        // It has had all ten when it goes, three of them malformed, and has said so of four.
        account.hear(&said(4, 0), 10, false);
        assert_eq!(account.begin(2, 4), 0);
        account.hear(&said(4, 0), 10, true);
        account.hear(&said(6, 1), 10, false);
        assert_eq!(account.unanswered(10), 5);
        assert_eq!(account.begin(1, 6), 0);
        account.hear(&said(10, 3), 10, true);
        expect(&account, 10, 4);
        // The same once more.
        account.begin(2, 10);
        account.hear(&said(10, 1), 10, true);
        account.begin(1, 10);
        account.hear(&said(10, 3), 10, true);
        account.hear(&said(NEXT, 3), NEXT, false);
        expect(&account, NEXT, 4);
        account.hear(&said(NEXT + 2, 5), NEXT + 2, false);
        expect(&account, NEXT + 2, 6);
    }

    /// Nothing is counted twice, and nothing taken back, by what was said before and is read later.
    #[test]
    fn what_was_said_before_loses_nothing_twice() {
        let mut account = Account::new(false);
        account.begin(1, 0);
        account.hear(&said(0, 0), 20, true);
        account.hear(&said(8, 4), 20, false);
        account.hear(&said(5, 4), 20, false);
        account.hear(&said(10, 4), 20, false);
        assert_eq!((account.acknowledged(), account.unanswered(20)), (10, 10 + 4));
        let mut account = Account::new(true);
        account.begin(1, 0);
        account.hear(&said(0, 0), 20, true);
        account.hear(&said(6, 3), 20, false);
        account.hear(&said(5, 2), 20, false);
        account.hear(&said(8, 3), 20, false);
        assert_eq!((account.acknowledged(), account.unanswered(20)), (8, 12 + 3));
    }

    /// Messages are kept: a bridge that has forgotten the stream begins to count what it misses again.
    #[test]
    fn what_is_missed_by_one_that_has_forgotten_counts() {
        let mut account = Account::new(true);
        account.begin(1, 0);
        account.hear(&said(0, 0), 10, true);
        account.hear(&said(4, 2), 10, false);
        account.hear(&said(4, 0), 10, true);
        account.hear(&said(6, 1), 10, false);
        assert_eq!((account.acknowledged(), account.unanswered(10)), (6, 4 + 3));
    }

    #[test]
    fn no_more_is_lost_than_was_sent() {
        for keeps in [false, true] {
            let mut account = Account::new(keeps);
            account.begin(1, 0);
            for answers in [true, false, true] {
                account.hear(&said(0, u64::MAX), 3, answers);
                assert_eq!(account.unanswered(3), 3);
            }
            account.hear(&said(u64::MAX, u64::MAX), 3, false);
            expect(&account, 3, 3);
            account.begin(2, 3);
            account.hear(&said(u64::MAX, u64::MAX), 3, true);
            expect(&account, 3, 3);
        }
    }
}

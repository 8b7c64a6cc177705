//! A logger: lines come in bursts, are drained after them, and with a bound some are refused.

use crate::life::{Steps, live};
use ysuite::{mpmc, mpsc, spsc};

/// Periodically all of these bursts come, and all of their lines are read.
const EACH: u64 = 10;
/// At which of those steps, how many lines.
const BURSTS: [(u64, u64); 3] = [(1, 200), (4, 1), (6, 20)];

/// A line as it is.
type Line = [u64; 4];

/// Lines that come with this step: all of a burst, or none.
fn lines(number: u64) -> u64 {
    BURSTS.iter().find(|burst| burst.0 == number % EACH).map_or(0, |burst| burst.1)
}

#[test]
fn an_unbounded_mpsc_channel() {
    live("logger::an_unbounded_mpsc_channel", Steps::Calls, |life| {
        let (mut logger, mut receiver) = mpsc::unbounded::<Line>();
        // The chunk in use, which may be as large as that, and a few that are kept.
        life.may_keep((31 + 3 * 8) << 10);
        while life.step() {
            let mut other = logger.clone();
            for line in 0..lines(life.number()) {
                other.send([line; 4]).unwrap();
                logger.send([line; 4]).unwrap();
            }
            // Somewhat slower than the lines come, and then all.
            if life.number() % EACH == EACH - 1 {
                receiver.try_iter().for_each(drop);
                assert!(receiver.is_empty());
            } else {
                receiver.try_iter().take(10).for_each(drop);
            }
        }
    });
}

#[test]
fn a_pipe_without_a_bound() {
    live("logger::a_pipe_without_a_bound", Steps::Calls, |life| {
        let (mut logger, mut receiver) = spsc::unbounded::<Line>();
        while life.step() {
            logger.send_batch((0..lines(life.number())).map(|line| [line; 4])).unwrap();
            if life.number() % EACH == EACH - 1 {
                let lines = receiver.peek_run().len();
                receiver.consume(lines);
                receiver.try_iter().for_each(drop);
            } else {
                receiver.try_iter().take(10).for_each(drop);
            }
        }
    });
}

#[test]
fn an_unbounded_mpmc_channel() {
    live("logger::an_unbounded_mpmc_channel", Steps::Uneven, |life| {
        let (logger, receiver) = mpmc::unbounded::<Line>();
        while life.step() {
            let other = logger.clone();
            (0..lines(life.number())).for_each(|line| other.send([line; 4]).unwrap());
            if life.number() % EACH == EACH - 1 {
                receiver.try_iter().for_each(drop);
            } else {
                receiver.try_iter().take(10).for_each(drop);
            }
        }
    });
}

/// A backlog that is never empty: as many lines arrive as leave.
#[test]
fn a_backlog_that_stays() {
    live("logger::a_backlog_that_stays", Steps::Calls, |life| {
        let (mut pipe, mut pipe_in) = spsc::unbounded::<Line>();
        let (mut funnel, mut funnel_in) = mpsc::unbounded::<Line>();
        let (exchange, exchange_in) = mpmc::unbounded::<Line>();
        for line in 0..1_000 {
            pipe.send([line; 4]).unwrap();
            funnel.send([line; 4]).unwrap();
            exchange.send([line; 4]).unwrap();
        }
        while life.step() {
            let line = life.number() + 999;
            pipe.send([line; 4]).unwrap();
            funnel.send([line; 4]).unwrap();
            exchange.send([line; 4]).unwrap();
            let oldest = Ok([life.number() - 1; 4]);
            assert_eq!((pipe_in.recv(), funnel_in.recv(), exchange_in.recv()), (oldest, oldest, oldest));
        }
    });
}

/// Lines that find no room are counted, and not sent.
#[test]
fn refusals_under_a_bound() {
    live("logger::refusals_under_a_bound", Steps::Calls, |life| {
        let (mut funnel, mut funnel_in) = mpsc::bounded::<Line>(100);
        let (exchange, exchange_in) = mpmc::bounded::<Line>(100);
        let (mut pipe, mut pipe_in) = spsc::bounded::<Line>(100);
        let mut refused = 0;
        while life.step() {
            for line in 0..lines(life.number()) {
                refused += u64::from(funnel.try_send([line; 4]).is_err());
                refused += u64::from(exchange.try_send([line; 4]).is_err());
                refused += u64::from(pipe.try_send([line; 4]).is_err());
            }
            let most = if life.number() % EACH == EACH - 1 { usize::MAX } else { 5 };
            funnel_in.try_iter().take(most).for_each(drop);
            exchange_in.try_iter().take(most).for_each(drop);
            pipe_in.try_iter().take(most).for_each(drop);
        }
        assert!(refused > 2 * life.number());
    });
}

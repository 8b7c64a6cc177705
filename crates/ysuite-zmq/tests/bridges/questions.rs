//! Questions and answers: whose an answer is, and what becomes of a question without one.

use std::future::Future as _;
use std::task::{self, Waker};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite::{SendTimeoutError, TrySendError};
use ysuite_zmq::{Answer, Ask, Asker, Bridge, Closed, Context, Error, Event, Malformed, Question, Unanswered};

use crate::support::proxy::Proxy;
use crate::support::zmtp::Peer;
use crate::support::{EVERYWHERE, GUARD, address, block_on, expect_all_left, expect_flushed, until, wait_for};

type Questions = spsc::Receiver<Question<u64, u64>>;

fn ask() -> Ask<u64, u64> {
    Bridge::ask()
}

fn answer() -> Answer<u64, u64> {
    Bridge::answer()
}

/// Answers each with its double, until the bridge ends.
fn double(mut questions: Questions) -> thread::JoinHandle<usize> {
    thread::spawn(move || {
        questions.iter().map(|question| question.reply.send(question.message * 2)).filter(Result::is_ok).count()
    })
}

/// Over every transport, whichever side binds, one after the other and many at once.
///
/// Claim: Each question gets its own answer.
#[test]
fn every_question_has_its_answer() {
    const ALL: u64 = 3_000;
    for (where_to, ask_binds) in EVERYWHERE.into_iter().flat_map(|at| [(at, false), (at, true)]) {
        let context = Context::new(1).unwrap();
        let (ask, answer) = (ask().context(&context), answer().context(&context).bounded(16));
        let ((asks, asker), (answers, questions)) = if ask_binds {
            let asks = ask.bind(where_to).start().unwrap();
            let answers = answer.connect(address(&asks.0)).start().unwrap();
            (asks, answers)
        } else {
            let answers = answer.bind(where_to).start().unwrap();
            (ask.connect(address(&answers.0)).start().unwrap(), answers)
        };
        let doubled = double(questions);
        (0..100).for_each(|number| assert_eq!(asker.ask(number), Ok(number * 2)));
        let pending: Vec<_> = (0..ALL).map(|number| asker.begin(number).unwrap()).collect();
        for (number, pending) in (0..).zip(pending) {
            assert_eq!(pending.wait(), Ok(number * 2), "{number} over {where_to}");
        }
        assert_eq!(block_on(asker.ask_async(7)), Ok(14));
        assert_eq!(asker.begin_timeout(8, GUARD).unwrap().wait(), Ok(16));
        until("all of it is counted", || asks.statistics().messages_out == ALL + 102);
        let said = asks.statistics();
        assert_eq!((said.messages_in, said.repeated), (ALL + 102, 0));
        expect_flushed(asks);
        assert_eq!(asker.ask(1), Err(Unanswered::Closed));
        assert!(matches!(asker.try_begin(1), Err(TrySendError::Disconnected(1))));
        assert!(matches!(asker.begin_timeout(1, GUARD), Err(SendTimeoutError::Disconnected(1))));
        drop(answers);
        assert_eq!(doubled.join().unwrap() as u64, ALL + 102);
    }
}

/// A thousand of them at once, of several bridges. Workers answer in any order.
///
/// Claim: A thousand askers are answered at once.
#[test]
fn a_thousand_askers_are_answered() {
    const ASKERS: u64 = 1_000;
    const EACH: u64 = 5;
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").bounded(10).start().unwrap();
    let (jobs, work) = ysuite::mpmc::bounded::<Question<u64, u64>>(10);
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let work = work.clone();
            thread::spawn(move || work.iter().for_each(|question| question.reply.send(question.message * 2).unwrap()))
        })
        .collect();
    let dealer = thread::spawn(move || questions.iter().for_each(|question| jobs.send(question).unwrap()));
    let bridges: Vec<_> = (0..4).map(|_| ask().connect(address(&answers)).start().unwrap()).collect();
    let asked: Vec<_> = (0..8)
        .map(|part| {
            let askers: Vec<_> = (0..ASKERS / 8).map(|at| bridges[(at % 4) as usize].1.clone()).collect();
            thread::spawn(move || {
                for round in 0..EACH {
                    let number = |at: usize| part * 1_000_000 + at as u64 * 100 + round;
                    let pending: Vec<_> =
                        askers.iter().enumerate().map(|(at, asker)| asker.begin(number(at)).unwrap()).collect();
                    for (at, pending) in pending.into_iter().enumerate() {
                        assert_eq!(pending.wait(), Ok(number(at) * 2));
                    }
                }
            })
        })
        .collect();
    asked.into_iter().for_each(|asked| asked.join().unwrap());
    bridges.into_iter().for_each(|(bridge, _)| expect_flushed(bridge));
    until("all of it is counted", || answers.statistics().messages_out == ASKERS * EACH);
    drop(answers);
    dealer.join().unwrap();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// Nobody is there, or nobody answers: the time of each is over, whether it was sent or not. Nothing of them is left.
#[test]
fn time_is_over_without_an_answer() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let short = Duration::from_millis(50);
    let (asks, asker) = ask().connect(format!("tcp://{nobody}")).timeout(short).retries(2).start().unwrap();
    assert_eq!(asker.ask(1), Err(Unanswered::TimedOut));
    assert_eq!((asks.statistics().messages_out, asks.statistics().repeated), (0, 0));
    expect_flushed(asks);

    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let (asks, asker) = ask().connect(address(&answers)).timeout(short).start().unwrap();
    let mut slow = asker.begin(1).unwrap();
    assert_eq!(slow.try_get(), None);
    assert_eq!(slow.wait_timeout(Duration::from_millis(1)), None);
    assert_eq!(slow.wait_timeout(GUARD), Some(Err(Unanswered::TimedOut)));
    let (late, dropped) = (questions.recv_timeout(GUARD).unwrap(), asker.begin(2).unwrap());
    drop(questions.recv_timeout(GUARD).unwrap());
    assert_eq!(dropped.wait(), Err(Unanswered::TimedOut));
    // An answer that comes too late is nobody's.
    late.answer(2).unwrap();
    until("it has come", || asks.statistics().duplicates == 1);
    let next = asker.begin(3).unwrap();
    questions.recv_timeout(GUARD).unwrap().answer(33).unwrap();
    assert_eq!(next.wait(), Ok(33));
    expect_flushed(asks);
}

/// The first time it is not answered, the second time it is.
#[test]
fn a_question_is_asked_again() {
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let ask = ask().connect(address(&answers)).timeout(Duration::from_millis(100)).retries(1_000);
    let (asks, asker) = ask.start().unwrap();
    let pending = asker.begin(7).unwrap();
    let ignored = questions.recv_timeout(GUARD).unwrap();
    let again = questions.recv_timeout(GUARD).unwrap();
    assert_eq!((ignored.message, again.message), (7, 7));
    again.answer(14).unwrap();
    assert_eq!(pending.wait(), Ok(14));
    assert!(asks.statistics().repeated >= 1);
    // The same answer a second time.
    ignored.answer(14).unwrap();
    until("it has come", || asks.statistics().duplicates >= 1);
    expect_flushed(asks);
}

/// Many that are given up, of a bridge that may have few: those that follow are asked, and those that were not sent never
/// are.
#[test]
fn what_is_given_up_is_not_asked() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let there = format!("tcp://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let (asks, asker) = ask().connect(&*there).unanswered(4).start().unwrap();
    for number in 0..4 {
        drop(asker.begin(number).unwrap());
    }
    until("as many as there may be without an answer wait", || {
        let full = asker.try_begin(100).map(drop);
        matches!(full, Err(TrySendError::Full(100)))
    });
    let late = asker.begin_timeout(100, Duration::from_millis(1)).map(drop);
    assert!(matches!(late, Err(SendTimeoutError::Timeout(100))));
    let (answers, questions) = answer().bind(there).start().unwrap();
    let doubled = double(questions);
    assert_eq!(asker.ask(50), Ok(100));
    until("it is counted", || asks.statistics().messages_out == 1);
    expect_flushed(asks);
    drop(answers);
    assert_eq!(doubled.join().unwrap(), 1);
}

/// The other side goes: those that it had end at once, long before their time, and those after them are answered by the
/// next one.
///
/// Claim: A question whose connection ends does not wait for its time.
#[test]
fn pending_questions_end_with_the_connection() {
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let proxy = Proxy::to(&address(&answers));
    // Several threads report connections.
    let context = Context::new(3).unwrap();
    let ask = ask().context(&context).connect(proxy.address()).timeout(Duration::MAX);
    let (asks, asker) = ask.start().unwrap();
    for round in 0..5 {
        let pending: Vec<_> = (0..100).map(|number| asker.begin(number).unwrap()).collect();
        let had: Vec<_> = (0..100).map(|_| questions.recv_timeout(GUARD).unwrap()).collect();
        proxy.reset();
        for pending in pending {
            assert_eq!(pending.wait(), Err(Unanswered::Disconnected), "{round}");
        }
        // Nobody hears these any more.
        had.into_iter().for_each(|question| question.answer(1).unwrap());
        let pending = asker.begin(5).unwrap();
        let next = questions.recv_timeout(GUARD).unwrap();
        assert_eq!(next.message, 5);
        next.answer(10).unwrap();
        assert_eq!(pending.wait(), Ok(10));
    }
    assert_eq!(asks.statistics().repeated, 0);
    expect_flushed(asks);
}

/// What waits in libzmq when the connection ends does not go over the next one, without retries; with them, each is asked
/// again and answered once.
#[test]
fn what_was_on_its_way_is_lost_or_asked_again() {
    const ALL: usize = 2_000;
    for retries in [0, 50] {
        let (answers, mut questions) = Bridge::answer::<Vec<u8>, u64>().bind("tcp://127.0.0.1:*").start().unwrap();
        let worker = thread::spawn(move || {
            let number = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().unwrap());
            questions
                .iter()
                .map(|question| (number(&question.message), question.reply))
                .map(|(number, reply)| reply.send(number).map(|()| number))
                .map_while(Result::ok)
                .collect::<Vec<_>>()
        });
        let proxy = Proxy::to(&address(&answers));
        let ask = Bridge::ask::<Vec<u8>, u64>().connect(proxy.address()).retries(retries).unanswered(ALL);
        let (asks, asker) = ask.timeout(GUARD).kernel_buffers(10_000, 10_000).start().unwrap();
        // So long that only a few are in the proxy and in the kernel.
        let question = |number: usize| [(number as u64).to_le_bytes().to_vec(), vec![0; 10_000]].concat();
        assert_eq!(asker.ask(question(ALL)), Ok(ALL as u64));
        proxy.stand(true);
        let pending: Vec<_> = (0..ALL).map(|number| asker.begin(question(number)).unwrap()).collect();
        until("libzmq has many", || asks.statistics().messages_out > 900);
        proxy.reset();
        proxy.stand(false);
        let outcomes: Vec<_> = pending.into_iter().map(ysuite_zmq::Pending::wait).collect();
        let is_lost = |number: u64| outcomes.get(number as usize) == Some(&Err(Unanswered::Disconnected));
        for (number, &outcome) in (0..).zip(&outcomes) {
            assert!(outcome == Ok(number) || is_lost(number), "{number}: {outcome:?}");
        }
        let lost = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        assert!(if retries > 0 { lost == 0 } else { lost > 300 }, "{lost} of {retries}");
        assert_eq!(asks.statistics().repeated > 0, retries > 0);
        expect_flushed(asks);
        drop(answers);
        // Those alone that were in the kernel had come before.
        let had = worker.join().unwrap().into_iter().filter(|&number| is_lost(number)).count();
        assert!(had < lost.max(1).div_ceil(2), "{had} of {lost}");
    }
}

/// The bridge that answers ends, in the same process or over the network, and another takes its place.
#[test]
fn an_answering_bridge_that_goes_is_noticed() {
    let file = format!("ipc://{}/ysuite-zmq questions {}", std::env::temp_dir().display(), std::process::id());
    for where_to in ["inproc://questions", "tcp://127.0.0.1:*", &file] {
        let context = Context::new(1).unwrap();
        let (answers, mut questions) = answer().context(&context).bind(where_to).start().unwrap();
        let there = address(&answers);
        let (asks, asker) = ask().context(&context).connect(&*there).timeout(Duration::MAX).start().unwrap();
        let pending = asker.begin(1).unwrap();
        let had = questions.recv_timeout(GUARD).unwrap();
        assert_eq!(answers.close(Duration::ZERO), Closed::Unsent { messages: 1, more: false });
        assert_eq!(pending.wait(), Err(Unanswered::Disconnected), "{where_to}");
        assert!(had.answer(2).is_err());
        assert!(questions.recv().is_err());
        let pending = asker.begin(2).unwrap();
        let (_answers, mut questions) = answer().context(&context).bind(there).start().unwrap();
        questions.recv_timeout(GUARD).unwrap().answer(4).unwrap();
        assert_eq!(pending.wait(), Ok(4));
        expect_flushed(asks);
    }
}

/// One asks and goes, and another takes its place at the address. The answer for the first comes then, and is nobody's.
///
/// Claim: An answer for one that has gone does not reach another in its place.
#[test]
fn answers_do_not_reach_a_successor() {
    let (first, asker) = ask().bind("tcp://127.0.0.1:*").start().unwrap();
    let there = address(&first);
    let soon = Duration::from_millis(10);
    let (answers, mut questions) = answer().connect(&*there).reconnect_after(soon, soon).start().unwrap();
    let pending = asker.begin(1).unwrap();
    let old = questions.recv_timeout(GUARD).unwrap();
    assert_eq!(first.close(Duration::ZERO), Closed::Unsent { messages: 1, more: false });
    assert_eq!(pending.wait(), Err(Unanswered::Closed));
    let mut second = None;
    until("the address is free", || {
        second = ask().bind(&*there).start().ok();
        second.is_some()
    });
    let (second, asker) = second.unwrap();
    let pending = asker.begin(2).unwrap();
    let new = questions.recv_timeout(GUARD).unwrap();
    assert_eq!((old.message, new.message), (1, 2));
    old.answer(10).unwrap();
    new.answer(20).unwrap();
    assert_eq!(pending.wait(), Ok(20));
    assert_eq!((answers.statistics().dropped, second.statistics().duplicates), (1, 0));
    expect_flushed(second);
}

/// Those of another library may hand such an answer over all the same: the numbers say that it is nobody's.
#[test]
fn questions_of_two_bridges_have_different_numbers() {
    let numbers = [(); 2].map(|()| {
        let (asks, asker) = ask().bind("tcp://127.0.0.1:*").start().unwrap();
        let _pending = asker.begin(1).unwrap();
        Peer::connect(&address(&asks), "ROUTER").read().1
    });
    assert_eq!(numbers.each_ref().map(Vec::len), [8, 8]);
    assert_ne!(numbers[0], numbers[1]);
}

/// What the program has when it closes may still be answered, and is waited for; what has come before is said.
#[test]
fn a_bridge_that_closes_waits_for_answers() {
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let (asks, asker) = ask().connect(address(&answers)).start().unwrap();
    let pending: Vec<_> = (0..10).map(|number| asker.begin(number).unwrap()).collect();
    let had: Vec<_> = (0..10).map(|_| questions.recv_timeout(GUARD).unwrap()).collect();
    let answerer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        had.into_iter().for_each(|question| question.reply.send(question.message * 2).unwrap());
    });
    let closes = thread::spawn(move || answers.close(GUARD));
    expect_flushed(asks);
    answerer.join().unwrap();
    // The asker went when it had all answers.
    expect_all_left(closes.join().unwrap());
    (0..).zip(pending).for_each(|(number, pending)| assert_eq!(pending.wait(), Ok(number * 2)));

    // One that is not answered is counted, and ends.
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let (asks, asker) = ask().connect(address(&answers)).start().unwrap();
    let pending = asker.begin(1).unwrap();
    let _had = questions.recv_timeout(GUARD).unwrap();
    assert_eq!(asks.close(Duration::from_millis(10)), Closed::Unsent { messages: 1, more: false });
    assert_eq!(pending.wait(), Err(Unanswered::Closed));
}

/// A peer that asks much and reads nothing: its answers wait, then are dropped, and another one is answered all along.
///
/// Claim: An asker that reads no answer holds up no other, and takes no more memory than is allowed.
#[test]
fn a_slow_asker_holds_up_no_other() {
    const BOUND: usize = 50;
    let answer = Bridge::answer::<u64, Vec<u8>>().bind("tcp://127.0.0.1:*").bounded(BOUND).high_water_marks(5, 5);
    let (answers, mut questions) = answer.start().unwrap();
    let worker = thread::spawn(move || {
        for question in questions.iter() {
            question.reply.send([question.message.to_le_bytes().to_vec(), vec![0; 100_000]].concat()).unwrap();
        }
    });
    let mut slow = Peer::connect(&address(&answers), "DEALER");
    let (asks, asker) = Bridge::ask::<u64, Vec<u8>>().connect(address(&answers)).start().unwrap();
    for number in 0..500u64 {
        slow.write(0, &number.to_le_bytes());
        assert_eq!(asker.ask(number).map(|answer| answer[..8].to_vec()), Ok(number.to_le_bytes().to_vec()));
    }
    until("its answers are dropped", || answers.statistics().dropped > 0);
    // The oldest it has still: what its connection has room for.
    assert_eq!(slow.read().1[..8], 0u64.to_le_bytes());
    expect_flushed(asks);
    drop(slow);
    drop(answers);
    worker.join().unwrap();
}

/// Nobody answers: as many questions as may be wait for it, and the channel is full of others.
#[test]
fn who_waits_for_room_is_woken() {
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let (asks, asker) = ask().connect(address(&answers)).unanswered(1).start().unwrap();
    block_on(asker.room());
    let first = asker.begin(1).unwrap();
    let question = questions.recv().unwrap();
    let mut others = Vec::new();
    while let Ok(other) = asker.begin_timeout(2, Duration::from_millis(10)) {
        others.push(other);
    }
    let mut room = Box::pin(asker.room());
    assert!(room.as_mut().poll(&mut task::Context::from_waker(Waker::noop())).is_pending());
    let waits = thread::spawn(move || block_on(room));
    question.reply.send(2).unwrap();
    waits.join().unwrap();
    assert_eq!(first.wait(), Ok(2));
    drop((asks, others, questions));
    until("the bridge has ended", || matches!(asker.begin(3), Err(Unanswered::Closed)));
    block_on(asker.room());
}

/// Of a frame of a peer after which others follow.
const MORE: u8 = 1;

#[test]
fn what_is_no_question_is_refused() {
    let (answers, mut questions) = answer().bind("tcp://127.0.0.1:*").start().unwrap();
    let mut peer = Peer::connect(&address(&answers), "DEALER");
    // Of another length, in two parts, none.
    peer.write(0, b"short");
    peer.write(MORE, b"");
    peer.write(MORE, &[0; 8]);
    peer.write(0, &[0; 8]);
    until("both are refused", || answers.statistics().malformed == 2);
    // With an envelope, without one, and with one of several parts.
    for envelope in [&[&b""[..]][..], &[], &[b"a", b"bc", b""]] {
        envelope.iter().for_each(|part| peer.write(MORE, part));
        peer.write(0, &7u64.to_le_bytes());
        let question = questions.recv_timeout(GUARD).unwrap();
        assert_eq!(question.message, 7);
        question.answer(14).unwrap();
        envelope.iter().for_each(|part| assert_eq!(peer.read(), (MORE, part.to_vec())));
        assert_eq!(peer.read(), (0, 14u64.to_le_bytes().to_vec()));
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    let (asks, asker) = ask().bind("tcp://127.0.0.1:*").start().unwrap();
    let mut peer = Peer::connect(&address(&asks), "REP");
    let pending = asker.begin(1).unwrap();
    let (number, empty, question) = (peer.read(), peer.read(), peer.read());
    assert_eq!((number.0, empty, question.0), (MORE, (MORE, vec![]), 0));
    // None of these says whose it is.
    peer.write(0, b"answer");
    peer.write(MORE, &number.1);
    peer.write(0, b"");
    peer.write(MORE, &[1; 7]);
    peer.write(MORE, b"");
    peer.write(0, &[0; 8]);
    peer.write(MORE, &number.1);
    peer.write(MORE, b"x");
    peer.write(0, &[0; 8]);
    until("they are refused", || asks.statistics().malformed == 4);
    // This does, and is none.
    peer.write(MORE, &number.1);
    peer.write(MORE, b"");
    peer.write(0, &[0; 7]);
    let malformed = Malformed::Length { bytes: 7, record: 8 };
    assert_eq!(pending.wait(), Err(Unanswered::Malformed(malformed)));
    wait_for(&asks.events(), |event| *event == Event::Malformed(malformed));
    // A peer that is gone in the middle is no answer.
    let pending = asker.begin(2).unwrap();
    peer.read();
    drop((peer, pending));
}

/// Lists of parts are questions and answers as well, with parts of any length.
#[test]
fn lists_are_asked() {
    let answer = Bridge::answer::<Vec<Vec<u8>>, Vec<Vec<u8>>>().bind("tcp://127.0.0.1:*");
    let (_answers, mut questions) = answer.start().unwrap();
    let (asks, asker) =
        Bridge::ask::<Vec<Vec<u8>>, Vec<Vec<u8>>>().connect(address(&_answers)).retries(3).start().unwrap();
    for parts in [vec![b"one".to_vec()], vec![vec![], b"two".to_vec()], vec![b"a".to_vec(), vec![], vec![7; 9_000]]] {
        let pending = asker.begin(parts.clone()).unwrap();
        let question = questions.recv_timeout(GUARD).unwrap();
        assert_eq!(question.message, parts);
        let answer = [question.message.clone(), vec![b"last".to_vec()]].concat();
        question.answer(answer.clone()).unwrap();
        assert_eq!(pending.wait(), Ok(answer));
    }
    expect_flushed(asks);
}

#[test]
fn one_that_may_ask_nothing_is_named() {
    assert!(matches!(ask().connect("tcp://127.0.0.1:1").unanswered(0).start(), Err(Error::Bound)));
    assert!(matches!(answer().bind("tcp://127.0.0.1:*").bounded(0).start(), Err(Error::Bound)));
    assert!(matches!(ask().start(), Err(Error::NoAddress)));
    for (unanswered, text) in [
        (Unanswered::TimedOut, "no answer came in time"),
        (Unanswered::Disconnected, "the connection ended before an answer came"),
        (Unanswered::Malformed(Malformed::Content), "the answer is malformed"),
        (Unanswered::Closed, "the bridge has ended"),
    ] {
        assert_eq!(unanswered.to_string(), text);
    }
    let (_asks, asker) = ask().connect("tcp://127.0.0.1:1").start().unwrap();
    let asker: Asker<u64, u64> = asker;
    assert_eq!(format!("{asker:?}"), "Asker { .. }");
}

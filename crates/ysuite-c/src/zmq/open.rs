//! Opens bridges: one function for each kind.

use core::ffi::{c_char, c_int};
use core::ptr;

use ysuite::spsc;
use ysuite_zmq::{
    Answer as AnswerBuilder, Ask, Asker, Bridge, Duplex, Error, Frame, FromWire, KeyPair, Publish, Published, Pull,
    Push, Question, Started, Subscribe, ToWire, Topic,
};

use super::answer::{Questions, ys_zmq_questions};
use super::ask::{Askers, Asking, ys_zmq_asker};
use super::bridge::{Running, ys_zmq_bridge};
use super::options::{Builder, Given, ys_zmq_options};
use super::rx::{In, Incoming, ys_zmq_rx};
use super::tx::{Out, ys_zmq_tx};
use super::{Watched, code_of};
use crate::code::{Answer, YS_EINVAL, YS_OK};
use crate::ends::{Kind, open};

/// Puts NULL where a handle will be. `None`: there is no such place.
///
/// # Safety
/// A place for a handle, or NULL.
unsafe fn none<'a, K>(place: *mut *mut K) -> Option<&'a mut *mut K> {
    // SAFETY: by the caller.
    let place = unsafe { place.as_mut() }?;
    *place = ptr::null_mut();
    Some(place)
}

/// Puts a bridge, and the ends that `start` makes, where the caller wants them; after an error NULL everywhere.
///
/// # Safety
/// Options, and places for handles, or NULL.
unsafe fn bridged<K: Kind>(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    end: *mut *mut K,
    start: impl FnOnce(&Given) -> Result<(Started, K::End), ysuite_zmq::Error>,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        if none(bridge).and(none(end)).is_none() {
            return c_int::from_code(YS_EINVAL);
        }
        let mut made = None;
        let code = open(bridge, || {
            let (started, end) = start(&ys_zmq_options::read(options)?).map_err(|error| code_of(&error))?;
            made = Some(end);
            Ok(Running::new(started))
        });
        // It is there if the bridge is.
        made.map_or(code, |made| open(end, || Ok(made)))
    }
}

/// A receiver, as `start` or `start_conflated` makes it.
fn incoming<T: super::rx::Channel + 'static>((started, receiver): (Started, T)) -> (Started, Watched<In>) {
    (started, Watched::new(In::new(receiver)))
}

type Opened<E> = Result<(Started, E), Error>;

fn push<M: ToWire>(given: &Given, out: impl FnOnce(spsc::Sender<M>) -> Out) -> Opened<Watched<Out>>
where
    Push<spsc::Receiver<M>>: Builder,
{
    let (sender, source) = spsc::bounded(given.capacity);
    Ok((Bridge::push(source).with(given).start()?, Watched::new(out(sender))))
}

fn pull<M: FromWire + Incoming>(given: &Given) -> Opened<Watched<In>>
where
    Pull<M>: Builder,
{
    let pull = Bridge::pull::<M>().with(given).bounded(given.capacity);
    if given.conflate { pull.start_conflated().map(incoming) } else { pull.start().map(incoming) }
}

fn publish<M: ToWire>(given: &Given, out: impl FnOnce(spsc::Sender<Published<M>>, Topic) -> Out) -> Opened<Watched<Out>>
where
    Publish<spsc::Receiver<Published<M>>>: Builder,
{
    let (sender, source) = spsc::bounded::<Published<M>>(given.capacity);
    let publish = Bridge::publish(source).with(given).when_full(given.when_full);
    let publish = given.joined.into_iter().fold(publish, |publish, byte| publish.joined_by(byte));
    let publish = if given.without_topic { publish.without_topic() } else { publish };
    Ok((publish.start()?, Watched::new(out(sender, Topic::default()))))
}

fn subscribe<M: FromWire>(given: &Given) -> Opened<Watched<In>>
where
    Subscribe<Published<M>>: Builder,
    Published<M>: Incoming,
{
    let subscribe = Bridge::subscribe::<Published<M>>().with(given).bounded(given.capacity);
    let subscribe = given.joined.into_iter().fold(subscribe, |subscribe, byte| subscribe.joined_by(byte));
    let subscribe = if given.without_topic { subscribe.without_topic() } else { subscribe };
    let subscribe = given.topics.iter().fold(subscribe, |subscribe, topics| subscribe.topics(topics));
    if given.conflate { subscribe.start_conflated().map(incoming) } else { subscribe.start().map(incoming) }
}

fn duplex<M: ToWire, N: FromWire + Incoming>(
    given: &Given,
    out: impl FnOnce(spsc::Sender<M>) -> Out,
) -> Opened<(Watched<Out>, Watched<In>)>
where
    Duplex<spsc::Receiver<M>, N>: Builder,
{
    let (sender, source) = spsc::bounded(given.capacity);
    let mut duplex = Bridge::duplex::<_, N>(source).with(given).bounded(given.capacity);
    if given.at_least_once {
        duplex = duplex.at_least_once();
    }
    let duplex = given.unacknowledged.into_iter().fold(duplex, |duplex, most| duplex.unacknowledged(most));
    let (started, receiver) = duplex.start()?;
    Ok((started, (Watched::new(out(sender)), Watched::new(In::new(receiver)))))
}

fn ask<Q: ToWire, A: FromWire>(given: &Given, askers: impl FnOnce(Asker<Q, A>) -> Askers) -> Opened<Asking>
where
    Ask<Q, A>: Builder,
{
    let mut ask = Bridge::ask::<Q, A>().with(given).retries(given.retries);
    if let Some(timeout) = given.timeout {
        ask = ask.timeout(timeout);
    }
    if let Some(most) = given.unanswered {
        ask = ask.unanswered(most);
    }
    ask.start().map(|(started, asker)| (started, Asking::new(askers(asker))))
}

fn answer<Q: FromWire, A: ToWire>(
    given: &Given,
    questions: impl FnOnce(spsc::Receiver<Question<Q, A>>) -> Questions,
) -> Opened<Watched<Questions>>
where
    AnswerBuilder<Q, A>: Builder,
{
    let answer = Bridge::answer::<Q, A>().with(given).bounded(given.capacity);
    answer.start().map(|(started, receiver)| (started, Watched::new(questions(receiver))))
}

/// Opens a bridge that sends: each message to one of those that pull, in turn. Its peers are PULL sockets. Never waits for them.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param tx receives the sender; NULL after an error
/// @return YS_OK; YS_EINVAL: no address, or options that cannot be; YS_REFUSED_NAME: an address that is misspelled, or cannot be used here;
///     YS_REFUSED_IN_USE: one that another socket has bound; YS_ENOTSUP: this libzmq has no CURVE; YS_ESYSTEM with the cause in errno.
///     ys_zmq_refusal has the reason in full
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_push_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    tx: *mut *mut ys_zmq_tx,
) -> c_int {
    let start = |given: &Given| if given.parts { push(given, Out::Lists) } else { push(given, Out::Plain) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, tx, start) }
}

/// Opens a bridge that receives from those that push. Its peers are PUSH sockets. Never waits for them.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_pull_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    rx: *mut *mut ys_zmq_rx,
) -> c_int {
    let start = |given: &Given| if given.parts { pull::<Vec<Frame>>(given) } else { pull::<Frame>(given) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, rx, start) }
}

/// Opens a bridge that publishes: each message to all that have subscribed to a beginning of its topic. Its peers are SUB sockets. Never
/// waits for them.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param tx receives the sender; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_publish_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    tx: *mut *mut ys_zmq_tx,
) -> c_int {
    let start =
        |given: &Given| if given.parts { publish(given, Out::PublishedLists) } else { publish(given, Out::Published) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, tx, start) }
}

/// Opens a bridge that receives what is published. Its peers are PUB sockets. Never waits for them.
///
/// @param options addresses and options, with the topics that are asked for
/// @param bridge receives the bridge; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_subscribe_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    rx: *mut *mut ys_zmq_rx,
) -> c_int {
    let start = |given: &Given| if given.parts { subscribe::<Vec<Frame>>(given) } else { subscribe::<Frame>(given) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, rx, start) }
}

/// Opens one side of a duplex: what is sent here is received there, in order, acknowledged, and the other way round. Its peer is one other
/// duplex, of this library in any language. One side binds, the other connects to one address. Never waits for it.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param tx receives the sender; NULL after an error
/// @param rx receives the receiver; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_duplex_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    tx: *mut *mut ys_zmq_tx,
    rx: *mut *mut ys_zmq_rx,
) -> c_int {
    // SAFETY: by the caller.
    let Some(rx) = (unsafe { none(bridge).and(none(tx)).and(none(rx)) }) else { return c_int::from_code(YS_EINVAL) };
    let mut receiver = None;
    let start = |given: &Given| {
        let (started, (out, incoming)) = match given.parts {
            true => duplex::<_, Vec<Frame>>(given, Out::Lists)?,
            false => duplex::<_, Frame>(given, Out::Plain)?,
        };
        receiver = Some(incoming);
        Ok((started, out))
    };
    // SAFETY: by the caller.
    let code = unsafe { bridged(options, bridge, tx, start) };
    // SAFETY: by the caller. It is there if the bridge is.
    receiver.map_or(code, |receiver| unsafe { open(rx, || Ok(receiver)) })
}

/// Opens a bridge that asks, and returns each answer to the thread that has asked. Its peers are REP or ROUTER sockets; of several, each is
/// asked in turn. Never waits for them.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param asker receives what asks; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_ask_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    asker: *mut *mut ys_zmq_asker,
) -> c_int {
    let start = |given: &Given| if given.parts { ask(given, Askers::Lists) } else { ask(given, Askers::Plain) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, asker, start) }
}

/// Opens a bridge that receives questions, and sends the answers back. Its peers are REQ or DEALER sockets. Never waits for them.
///
/// @param options addresses and options
/// @param bridge receives the bridge; NULL after an error
/// @param questions receives the receiver of questions; NULL after an error
/// @return as ys_zmq_push_open
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_answer_open(
    options: *const ys_zmq_options,
    bridge: *mut *mut ys_zmq_bridge,
    questions: *mut *mut ys_zmq_questions,
) -> c_int {
    let start =
        |given: &Given| if given.parts { answer(given, Questions::Lists) } else { answer(given, Questions::Plain) };
    // SAFETY: by the caller.
    unsafe { bridged(options, bridge, questions, start) }
}

/// Makes a pair of keys of CURVE, from the system's random numbers.
///
/// @param secret_key room for 41 bytes: receives 40 characters of Z85, and a zero
/// @param public_key the same
/// @return YS_OK; YS_EINVAL; YS_ENOTSUP: this libzmq has no CURVE
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_key_pair(secret_key: *mut c_char, public_key: *mut c_char) -> c_int {
    if secret_key.is_null() || public_key.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    crate::handle::make(|| match KeyPair::generate() {
        Ok(pair) => {
            for (text, to) in [(pair.secret(), secret_key), (pair.public().to_string(), public_key)] {
                // SAFETY: by the caller there is room for them.
                unsafe {
                    to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
                    *to.add(text.len()) = 0;
                }
            }
            c_int::from_code(YS_OK)
        }
        Err(error) => c_int::from_code(code_of(&error)),
    })
}

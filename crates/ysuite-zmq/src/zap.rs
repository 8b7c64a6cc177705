//! [`Gatekeeper`]: decides which peers may connect. libzmq asks it for every connection of a server with CURVE or
//! PLAIN, as ZAP (ØMQ's RFC 27) says: CURVE alone would admit every peer with any key.
//!
//! One thread for a context, started with its first server, ended with the context. It sleeps in libzmq. Without it,
//! for lack of memory say, no peer would be admitted: servers insist on an answer.

use core::ffi::c_void;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::curve::PublicKey;
use crate::error::{Error, Failure};
use crate::ffi::{self, Kind, flag, option};
use crate::frame::Frame;

/// Whom a server admits.
#[derive(Clone, Debug)]
pub(crate) enum Admitted {
    Keys(HashSet<PublicKey>),
    /// Passwords by name.
    Users(HashMap<String, String>),
}

/// The domain of all sockets that admit every peer. A socket without security has one too: libzmq then refuses those
/// that speak its protocols of before 2013 (ZMTP 1 and 2), which begin as almost anything does. Without it the greeting
/// of another program, such as SSH or HTTP, would be taken for one of these, and answered with messages. Without a
/// gatekeeper libzmq does not ask.
pub(crate) const OPEN: &str = "ysuite-zmq.open";

/// By the domain that each server is given.
type Lists = Arc<Mutex<HashMap<String, Admitted>>>;

pub(crate) struct Gatekeeper {
    lists: Lists,
    thread: Option<JoinHandle<()>>,
}

/// Where libzmq asks, in every context.
const ADDRESS: &core::ffi::CStr = c"inproc://zeromq.zap.01";

/// A socket in the hands of the gatekeeper's thread. It knows the context's address only: a handle would keep it alive.
struct Door(*mut c_void);

// SAFETY: made by one thread, used by another from then on; a full fence is between.
unsafe impl Send for Door {}

impl Gatekeeper {
    // MUTANT: Needs a context without free sockets, or one that ends during an answer.
    /// The context lives until its gatekeeper is dropped; it is shut down before that, so that the thread ends.
    pub(crate) fn of(context: *mut c_void) -> Result<Self, Error> {
        // SAFETY: the context lives.
        let door = Door(unsafe { ffi::zmq_socket(context, Kind::Rep as i32) });
        if door.0.is_null() {
            return Err(Failure::last("zmq_socket").into());
        }
        let linger: i32 = 0;
        // Now: of a context that is shut down nothing can be set any more, and an answer that is not taken would keep
        // it from ending. SAFETY: the socket is open, and this thread's still; the library copies the value.
        unsafe { ffi::zmq_setsockopt(door.0, option::LINGER, (&raw const linger).cast(), size_of::<i32>()) };
        // SAFETY: as above.
        let bind = || unsafe { ffi::zmq_bind(door.0, ADDRESS.as_ptr()) };
        Failure::uninterrupted("zmq_bind", || (bind() == 0).then_some(()))?;
        let lists = Lists::default();
        let read = lists.clone();
        let thread = thread::Builder::new().name("ysuite-zmq gate".to_owned()).spawn(move || door.answer(&read))?;
        Ok(Self { lists, thread: Some(thread) })
    }

    pub(crate) fn admit(&self, domain: &str, whom: Admitted) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(domain.to_owned(), whom);
    }

    // MUTANT: Memory only: its name is not reused.
    pub(crate) fn forget(&self, domain: &str) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).remove(domain);
    }
}

impl Drop for Gatekeeper {
    // MUTANT: The thread ends with the context, for which libzmq waits.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Door {
    // MUTANT: An answer is possible as long as the context exists.
    /// Until the context is shut down.
    fn answer(self, lists: &Lists) {
        while let Some(request) = self.receive() {
            let user = admitted(&request, lists);
            let (status, said) = if user.is_some() { ("200", "OK") } else { ("400", "not admitted") };
            let user = user.unwrap_or_default();
            let id = request.get(1).cloned().unwrap_or_default();
            let reply: [&[u8]; 6] = [b"1.0", &id, status.as_bytes(), said.as_bytes(), user.as_bytes(), b""];
            if !self.send(&reply) {
                break;
            }
        }
    }

    /// All parts of a request; nothing when the context is shut down.
    fn receive(&self) -> Option<Vec<Vec<u8>>> {
        let (mut parts, mut frame) = (Vec::new(), Frame::empty());
        loop {
            // SAFETY: open, and this thread's alone.
            let receive = || unsafe { frame.receive(self.0, 0) }.then_some(());
            Failure::uninterrupted("zmq_msg_recv", receive).ok()?;
            parts.push(frame.to_vec());
            if !frame.more() {
                return Some(parts);
            }
        }
    }

    fn send(&self, parts: &[&[u8]]) -> bool {
        let last = parts.len() - 1;
        parts.iter().enumerate().all(|(at, part)| {
            let Ok(mut frame) = Frame::copied(part) else { return false };
            let flags = if at < last { flag::MORE } else { 0 };
            // SAFETY: as above.
            Failure::uninterrupted("zmq_msg_send", || unsafe { frame.send(self.0, flags) }).is_ok()
        })
    }
}

impl Drop for Door {
    // MUTANT: The thread ends with the context, for which libzmq waits.
    fn drop(&mut self) {
        // SAFETY: open, and closed once, by the thread that has it.
        unsafe { ffi::zmq_close(self.0) };
    }
}

/// The name of the peer, if it is admitted. The parts: version, number, domain, address, identity, mechanism,
/// credentials.
fn admitted(request: &[Vec<u8>], lists: &Lists) -> Option<String> {
    let [version, _, domain, _, _, mechanism, credentials @ ..] = request else { return None };
    if (&version[..], &domain[..], &mechanism[..]) == (b"1.0", OPEN.as_bytes(), b"NULL") {
        return Some(String::new());
    }
    let lists = lists.lock().unwrap_or_else(PoisonError::into_inner);
    let list = lists.get(core::str::from_utf8(domain).ok()?).filter(|_| version == b"1.0")?;
    match (list, &mechanism[..], credentials) {
        (Admitted::Keys(keys), b"CURVE", [key]) => {
            PublicKey::of(key).filter(|key| keys.contains(key)).map(|key| key.to_string())
        }
        (Admitted::Users(users), b"PLAIN", [name, password]) => {
            let name = core::str::from_utf8(name).ok()?;
            let known = users.get(name)?;
            same(known.as_bytes(), password).then(|| name.to_owned())
        }
        _ => None,
    }
}

/// In constant time, which does not reveal where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |so_far, (a, b)| so_far | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(domain: &str, mechanism: &str, credentials: &[&[u8]]) -> Vec<Vec<u8>> {
        let head = ["1.0", "7", domain, "127.0.0.1", "", mechanism].map(|part| part.as_bytes().to_vec());
        head.into_iter().chain(credentials.iter().map(|part| part.to_vec())).collect()
    }

    #[test]
    fn only_those_on_the_list_of_the_domain_are_admitted() {
        let lists = Lists::default();
        let key = PublicKey::from([7; 32]);
        let users = HashMap::from([("ann".to_owned(), "secret".to_owned())]);
        lists.lock().unwrap().insert("a".into(), Admitted::Keys([key].into()));
        lists.lock().unwrap().insert("b".into(), Admitted::Users(users));
        let asked =
            |domain, mechanism, credentials: &[&[u8]]| admitted(&request(domain, mechanism, credentials), &lists);
        assert_eq!(asked("a", "CURVE", &[&[7; 32]]), Some(key.to_string()));
        assert_eq!(asked("a", "CURVE", &[&[8; 32]]), None);
        assert_eq!(asked("a", "CURVE", &[&[7; 31]]), None);
        assert_eq!(asked("b", "CURVE", &[&[7; 32]]), None);
        assert_eq!(asked("c", "CURVE", &[&[7; 32]]), None);
        assert_eq!(asked("b", "PLAIN", &[b"ann", b"secret"]), Some("ann".to_owned()));
        assert_eq!(asked("b", "PLAIN", &[b"ann", b"Secret"]), None);
        assert_eq!(asked("b", "PLAIN", &[b"bob", b"secret"]), None);
        assert_eq!(asked("a", "NULL", &[]), None);
        assert_eq!(asked(OPEN, "NULL", &[]), Some(String::new()));
        assert_eq!(asked(OPEN, "CURVE", &[&[7; 32]]), None);
        assert_eq!(admitted(&[], &lists), None);
        // Of another version of what is asked nothing is known.
        let mut other = request("a", "CURVE", &[&[7; 32]]);
        other[0] = b"2.0".to_vec();
        assert_eq!(admitted(&other, &lists), None);
    }
}

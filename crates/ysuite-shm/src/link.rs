//! How two ends meet: each sends one packet with the descriptor of its memory, and maps what the other has sent.
//!
//! The ends are equal: neither asks, neither answers, and neither waits. An end that has not met its peer yet can be
//! given away ([`Link::take_socket`]), and a sender may fill its ring before anybody is there. A packet says *hello*,
//! *I was dropped*, or *refused* with a reason.
//!
//! The socket stays: its hang-up tells that the peer is gone, also where its process lives on as another program. One
//! thread; nothing here blocks.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::os::{self, Errno, Own, PAGE, Peer, Poller, Sealed, Source};
use crate::page::{self, Header, Kind, Role, Shape, VERSION};
use crate::ring::region_bytes;
use crate::sync::{Ordering, fence};
use crate::{Error, Options, Why};

/// "ysshm", a zero, and "he" for hello, in the order of the machine that wrote it.
const MAGIC: u64 = u64::from_ne_bytes(*b"ysshm\0he");
/// Magic, version and flags, what it is.
const BYTES: usize = 24;
/// The peer does not take a bell, and gives none: both ring by the socket.
const CAREFUL: u32 = 1;
/// Behind its memory comes its second one: that which a sender shares with all its peers, or the table of who borrows.
const SHARING: u32 = 2;
const HELLO: u64 = 0;
const CLOSED: u64 = 1;
/// And the reason's number above.
const REFUSED: u64 = 2;
/// To one that has met this end: the descriptor of memory that nobody writes any more, and its number above.
const SEALED: u64 = 3;
/// More packets than a socket holds of a peer that sends no more than was agreed.
const MOST_PACKETS: usize = 512;
/// More descriptors than belong to messages that were not received; a peer must not use up those of this process.
const MOST_KEPT: usize = 64;

/// The peer, once it has said hello.
pub(crate) struct Met {
    pub(crate) region: Peer,
    pub(crate) header: Header,
    /// Its second memory, of a kind that has one: what the peer shares with others as well, or its table.
    pub(crate) shared: Option<Peer>,
    /// Rung by this end. Where one side is careful the socket is.
    bell: Option<Arc<OwnedFd>>,
    process: Option<OwnedFd>,
}

impl Met {
    /// The position from which on this end receives of a sender that has others as well. `None`: it has not joined.
    pub(crate) fn joined_at(&self) -> Option<u64> {
        // ORDERING: Relaxed, as the memory is read-only, and the fence: pairs with the Release in `Link::say_joined`.
        let from = self.region.word(page::FROM).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        from.checked_sub(1)
    }
}

/// What a sender writes once for all its peers.
pub(crate) struct Shared {
    pub(crate) memory: Arc<Own>,
    shape: Shape,
    capacity: usize,
}

impl Shared {
    pub(crate) fn new(shape: Shape, capacity: usize) -> Result<Self, Error> {
        Ok(Self { memory: Arc::new(Own::new(region_bytes(&shape, capacity)?)?), shape, capacity })
    }
}

/// What a packet of a peer that was met is.
enum Found {
    /// `None`: this process had no room for the descriptor.
    Sealed(u32, Option<OwnedFd>),
    /// A wake-up, or a lie, of which nothing is kept: the message that belongs to it is missed.
    Other,
    Nothing,
}

/// Wakes the peer of an end, from any thread.
pub(crate) struct Ringer {
    bell: Arc<OwnedFd>,
    is_socket: bool,
}

impl Ringer {
    pub(crate) fn ring(&self) {
        if self.is_socket { os::poke(self.bell.as_fd()) } else { os::ring(self.bell.as_fd()) }
    }
}

/// One end of a connection.
pub(crate) struct Link {
    socket: Option<Arc<OwnedFd>>,
    pub(crate) own: Own,
    /// Its second memory: what it shares with all its peers, while `own` is for one of them; or its table.
    shared: Option<Arc<Own>>,
    bell: OwnedFd,
    pub(crate) met: Option<Met>,
    role: Role,
    pub(crate) shape: Shape,
    /// What the peer must say of its end.
    theirs: Shape,
    /// Of its own ring.
    pub(crate) capacity: usize,
    options: Options,
    /// It has said hello.
    has_begun: bool,
    /// The only processor on which this end runs, as far as is known where it is made.
    processor: Option<u32>,
    // GROWS: by what a careful peer has sent before its message was received; no more than `MOST_KEPT`.
    /// Sealed memory that has come, in order, and the number of each.
    sealed: VecDeque<(u32, Option<OwnedFd>)>,
}

impl Link {
    /// An end over a socket, with memory of its own. Nobody knows of it yet.
    pub(crate) fn new(
        socket: OwnedFd,
        role: Role,
        shape: Shape,
        capacity: usize,
        options: &Options,
    ) -> Result<Self, Error> {
        Self::with(socket, role, [shape, shape], capacity, options, None)
    }

    /// As [`new`](Self::new), of a kind of which both ends have a ring: the own shape, and the peer's.
    pub(crate) fn mutual(
        socket: OwnedFd,
        role: Role,
        shapes: [Shape; 2],
        capacity: usize,
        options: &Options,
    ) -> Result<Self, Error> {
        Self::with(socket, role, shapes, capacity, options, None)
    }

    /// The end of a sender that has other peers as well.
    pub(crate) fn sharing(socket: OwnedFd, shared: &Shared, options: &Options) -> Result<Self, Error> {
        let memory = Some(Arc::clone(&shared.memory));
        Self::with(socket, Role::Sender, [shared.shape; 2], shared.capacity, options, memory)
    }

    /// The end of one that borrows, and says in this table what.
    pub(crate) fn borrowing(socket: OwnedFd, shape: Shape, table: Arc<Own>, options: &Options) -> Result<Self, Error> {
        Self::with(socket, Role::Receiver, [shape; 2], 0, options, Some(table))
    }

    fn with(
        socket: OwnedFd,
        role: Role,
        [shape, theirs]: [Shape; 2],
        capacity: usize,
        options: &Options,
        shared: Option<Arc<Own>>,
    ) -> Result<Self, Error> {
        if !os::is_ours(socket.as_fd()) {
            return Err(Error::Refused(Why::Packet));
        }
        let processor = os::only_processor();
        let parts = Self::parts(role, &shape, capacity, processor);
        let (own, bell) = parts.inspect_err(|error| turn_away(socket.as_fd(), *error))?;
        let mut options = options.clone();
        // A peer of this user could do worse than to fill an eventfd.
        options.is_careful |= os::peer_user(socket.as_fd()) != Some(os::user());
        let (socket, sealed) = (Some(Arc::new(socket)), VecDeque::new());
        let (met, has_begun) = (None, false);
        Ok(Self {
            socket,
            own,
            shared,
            bell,
            met,
            role,
            shape,
            theirs,
            capacity,
            options,
            has_begun,
            processor,
            sealed,
        })
    }

    /// The memory and the bell of an end.
    fn parts(role: Role, shape: &Shape, capacity: usize, processor: Option<u32>) -> Result<(Own, OwnedFd), Error> {
        let bytes = own_bytes(role, shape, capacity)?;
        let own = Own::new(bytes)?;
        Header { role, shape: *shape, capacity, bytes, needs_fences: !os::can_interrupt(), processor }.write(&own);
        // ORDERING: Relaxed; the hello hands it over.
        own.word(page::FENCED).store(1, Ordering::Relaxed);
        Ok((own, os::bell().map_err(os::refused)?))
    }

    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_ref().expect("an end that was not given away").as_fd()
    }

    /// Adds what tells of the peer, which it has not met.
    pub(crate) fn watch(&self, poller: &Poller, lane: u64) -> Result<(), Error> {
        poller.add(self.bell.as_fd(), lane, Source::Bell).map_err(os::refused)?;
        poller.add(self.socket(), lane, Source::Socket).map_err(os::refused)
    }

    /// As [`watch`](Self::watch), of a peer that it has just met.
    pub(crate) fn watch_met(&self, poller: &Poller, lane: u64) -> Result<(), Error> {
        match self.met.as_ref().and_then(|met| met.process.as_ref()) {
            Some(process) => poller.add(process.as_fd(), lane, Source::Process).map_err(os::refused),
            None => Ok(()),
        }
    }

    pub(crate) fn unwatch(&self, poller: &Poller) {
        poller.remove(self.bell.as_fd());
        poller.remove(self.socket());
        if let Some(process) = self.met.as_ref().and_then(|met| met.process.as_ref()) {
            poller.remove(process.as_fd());
        }
    }

    /// Says hello, if it has not.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        if self.has_begun {
            return Ok(());
        }
        self.has_begun = true;
        let process = os::own_process();
        let mut descriptors = vec![self.own.memfd()];
        descriptors.extend(self.shared.as_ref().map(|shared| shared.memfd()));
        if !self.options.is_careful {
            descriptors.push(self.bell.as_fd());
            descriptors.extend(process.as_ref().map(|process| process.as_fd()));
        }
        let flags = if self.options.is_careful { CAREFUL } else { 0 } | if self.shared.is_some() { SHARING } else { 0 };
        match os::send(self.socket(), &packet(flags, HELLO), &descriptors) {
            // A peer that has gone is found where its packets are read.
            Ok(()) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            Err(error) => {
                let error = os::refused(error);
                self.refuse(error);
                Err(error)
            }
        }
    }

    /// The peer runs on no other processor than this end: it does nothing while this end looks.
    pub(crate) fn shares_processor(&self) -> bool {
        self.met.as_ref().is_some_and(|met| self.processor.is_some() && met.header.processor == self.processor)
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Looks whether the peer has said hello. True: it has, just now.
    pub(crate) fn try_meet(&mut self) -> Result<bool, Error> {
        let mut bytes = [0_u8; BYTES];
        let Some(packet) = os::receive(self.socket(), &mut bytes).map_err(os::refused)? else { return Ok(false) };
        match self.believe(&packet, &bytes, packet.descriptors.len()).and_then(|flags| self.accept(packet, flags)) {
            Ok(met) => {
                self.met = Some(met);
                Ok(true)
            }
            Err(error) => {
                self.refuse(error);
                Err(error)
            }
        }
    }

    /// Checks a packet; its flags.
    fn believe(&self, packet: &os::Packet, bytes: &[u8; BYTES], descriptors: usize) -> Result<u32, Error> {
        let no = |why| Err(Error::Refused(why));
        if packet.bytes == 0 && descriptors == 0 {
            return Err(Error::Died);
        }
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if packet.bytes < 8 || word(0) != MAGIC {
            return no(Why::Magic);
        }
        let (version, flags) = ((word(8) >> 32) as u32, word(8) as u32);
        if version >> 16 != VERSION >> 16 {
            return no(Why::Version(version));
        }
        match word(16) {
            HELLO => {}
            CLOSED => return Err(Error::Closed),
            other => return no(refused_by(other).unwrap_or(Why::Packet)),
        }
        if packet.is_cut || packet.bytes != BYTES || flags & !(CAREFUL | SHARING) != 0 {
            return no(Why::Packet);
        }
        // The memory; who is not careful gives a bell, and its process if its kernel has such descriptors.
        let others = descriptors.wrapping_sub(if flags & SHARING == 0 { 1 } else { 2 });
        let is_right = if flags & CAREFUL == 0 { others == 1 || others == 2 } else { others == 0 };
        if is_right { Ok(flags) } else { no(Why::Packet) }
    }

    /// Maps what came with a hello.
    fn accept(&self, packet: os::Packet, flags: u32) -> Result<Met, Error> {
        let no = |why| Err(Error::Refused(why));
        let mut descriptors = packet.descriptors.into_iter();
        let memfd = descriptors.next().ok_or(Error::Refused(Why::Packet))?;
        let second = if flags & SHARING == 0 { None } else { descriptors.next() };
        let region = Peer::map(memfd.as_fd(), self.options.largest_region)?;
        let other = if self.role == Role::Sender { Role::Receiver } else { Role::Sender };
        let header = Header::read(&region, other, &self.theirs)?;
        if header.bytes != own_bytes(other, &header.shape, header.capacity)? {
            return no(Why::Size);
        }
        let has_second = self.theirs.kind.has_second(other);
        let shared = match second {
            Some(memfd) if has_second => Some(Peer::map(memfd.as_fd(), self.options.largest_region)?),
            None if !has_second => None,
            _ => return no(Why::Packet),
        };
        if let Some(shared) = &shared {
            let bytes = if other == Role::Sender { region_bytes(&header.shape, header.capacity)? } else { PAGE };
            if shared.bytes() != bytes {
                return no(Why::Size);
            }
        }
        let (bell, said) = (descriptors.next().map(Arc::new), descriptors.next());
        if flags & CAREFUL != 0 || self.options.is_careful {
            return Ok(Met { region, header, shared, bell: None, process: os::peer_process(self.socket()) });
        }
        if bell.as_deref().into_iter().chain(&said).any(|descriptor| !os::is_no_file(descriptor)) {
            return no(Why::Packet);
        }
        Ok(Met { region, header, shared, bell, process: said })
    }

    /// Tells the peer, which may listen or not. One that has read the hello of this end reads no other packet: it finds the
    /// reason in the page of this end, and is woken by the hang-up.
    pub(crate) fn refuse(&self, error: Error) {
        turn_away(self.socket(), error);
        if let (true, Error::Refused(why)) = (self.has_begun, error) {
            // ORDERING: Release pairs with the fence in `End::fate`.
            self.own.word(page::CLOSED).store(refusal(why), Ordering::Release);
            os::hang_up(self.socket());
        }
    }

    /// Tells the peer that this end is dropped, as its page says.
    pub(crate) fn close(&self) {
        match &self.socket {
            Some(socket) if !self.has_begun => drop(os::send(socket.as_fd(), &packet(0, CLOSED), &[])),
            // The peer may sleep, and this end has no bell of it. Closing the socket would not wake it while a forked child has a copy.
            Some(socket) if self.met.is_none() => os::hang_up(socket.as_fd()),
            _ => self.ring(),
        }
    }

    /// Wakes the peer.
    pub(crate) fn ring(&self) {
        match &self.met {
            Some(Met { bell: Some(bell), .. }) => os::ring(bell.as_fd()),
            Some(_) => os::poke(self.socket()),
            None => {}
        }
    }

    /// Says that the peer receives from this position on, as [`Met::joined_at`] finds it.
    pub(crate) fn say_joined(&self, position: u64) {
        // ORDERING: Release pairs with the fence in `Met::joined_at`: what was published before is in the ring.
        self.own.word(page::FROM).store(position + 1, Ordering::Release);
    }

    /// As [`ring`](Self::ring), for other threads. The peer was met.
    pub(crate) fn ringer(&self) -> Option<Ringer> {
        let met = self.met.as_ref()?;
        let bell = met.bell.as_ref().or(self.socket.as_ref())?;
        Some(Ringer { bell: Arc::clone(bell), is_socket: met.bell.is_none() })
    }

    /// Takes packets out of the socket: the wake-ups of a careful peer, and sealed memory, which is kept; and whatever another
    /// one sends, which no honest one does. A packet with the peer's own end of the socket, unread, would hide that it has hung up.
    pub(crate) fn unring(&mut self) {
        if self.theirs.kind != Kind::Loan || self.role != Role::Receiver {
            return os::unpoke(self.socket());
        }
        // As many as there: a peer cannot keep this end here.
        for _ in 0..MOST_PACKETS {
            match self.receive_sealed() {
                Ok(Found::Sealed(number, memfd)) => {
                    // Of those that no message belongs to, the oldest.
                    if self.sealed.len() == MOST_KEPT {
                        self.sealed.pop_front();
                    }
                    self.sealed.push_back((number, memfd));
                }
                Ok(Found::Other) => {}
                Ok(Found::Nothing) | Err(_) => return,
            }
        }
    }

    /// Sends the peer, which was met, memory that nobody writes any more.
    pub(crate) fn send_sealed(&self, number: u32, memfd: BorrowedFd<'_>) -> Result<(), Error> {
        match os::send(self.socket(), &packet(0, SEALED | u64::from(number) << 32), &[memfd]) {
            // It has gone, which is found elsewhere.
            Ok(()) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            // A peer that takes what it is told of has room.
            Err(Errno::AGAIN) => Err(Error::Broken),
            Err(error) => Err(os::refused(error)),
        }
    }

    /// The next packet of a peer that was met.
    fn receive_sealed(&self) -> Result<Found, Error> {
        let mut bytes = [0_u8; BYTES];
        let Some(mut packet) = os::receive(self.socket(), &mut bytes).map_err(os::refused)? else {
            return Ok(Found::Nothing);
        };
        let what = u64::from_ne_bytes(bytes[16..].try_into().expect("eight bytes"));
        let is_sealed = packet.bytes == BYTES && what & 0xffff_ffff == SEALED;
        let number = (what >> 32) as u32;
        Ok(match packet.descriptors.len() {
            1 if is_sealed => Found::Sealed(number, packet.descriptors.pop()),
            0 if is_sealed && packet.is_cut => Found::Sealed(number, None),
            _ if packet.bytes == 0 => Found::Nothing,
            _ => Found::Other,
        })
    }

    /// The sealed memory with this number, which was sent before the message that says so. What came before it belongs to
    /// messages that were not published.
    pub(crate) fn take_sealed(&mut self, number: u32) -> Result<Sealed, Error> {
        for _ in 0..2 * MOST_PACKETS {
            let next = match self.sealed.pop_front() {
                Some((number, memfd)) => Found::Sealed(number, memfd),
                None => self.receive_sealed()?,
            };
            match next {
                Found::Sealed(found, memfd) if found == number => {
                    let memfd = memfd.ok_or_else(|| os::refused(Errno::MFILE))?;
                    return Sealed::map(memfd.as_fd(), self.options.largest_region);
                }
                Found::Nothing => break,
                _ => {}
            }
        }
        Err(Error::Broken)
    }

    /// The socket, for another process, of an end that nobody knows of.
    pub(crate) fn take_socket(&mut self) -> Option<OwnedFd> {
        self.socket.take().and_then(Arc::into_inner)
    }
}

/// The bytes of an end's own region: with the ring, if it has one and shares none.
fn own_bytes(role: Role, shape: &Shape, capacity: usize) -> Result<usize, Error> {
    let has_ring = if role == Role::Sender {
        !shape.kind.is_shared()
    } else {
        matches!(shape.kind, Kind::Answers | Kind::AnswerBytes)
    };
    if has_ring { region_bytes(shape, capacity) } else { Ok(PAGE) }
}

pub(crate) fn packet(flags: u32, what: u64) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
    bytes[8..16].copy_from_slice(&(u64::from(VERSION) << 32 | u64::from(flags)).to_ne_bytes());
    bytes[16..].copy_from_slice(&what.to_ne_bytes());
    bytes
}

/// A refusal, in a packet or a page.
fn refusal(why: Why) -> u64 {
    REFUSED | u64::from(why.number()) << 32
}

/// The reason, if this is a refusal.
fn refused_by(word: u64) -> Option<Why> {
    (word & 0xffff_ffff == REFUSED).then(|| Why::by_peer((word >> 32) as u32))
}

/// What the word says by which an end closes its page: anything but 0.
pub(crate) fn closed_by(word: u64) -> Error {
    refused_by(word).map_or(Error::Closed, Error::Refused)
}

/// Tells a peer why it is refused, if this is such an error.
pub(crate) fn turn_away(peer: BorrowedFd<'_>, error: Error) {
    if let Error::Refused(why) = error {
        let _ = os::send(peer, &packet(0, refusal(why)), &[]);
    }
}

//! An end of a channel, as another program would have it.

use std::cell::{Cell, OnceCell};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::EventfdFlags;
use rustix::fs::SealFlags;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::PidfdFlags;

use crate::Input;
use crate::memory::{HEADER, Memory, PAGE, WORDS};

const MAGIC: u64 = u64::from_ne_bytes(*b"ysshm\0\0\x01");
const HELLO: u64 = u64::from_ne_bytes(*b"ysshm\0he");
const VERSION: u64 = 0x0002_0000;
/// Flags of a hello.
const CAREFUL: u32 = 1;
const SHARING: u32 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Typed = 0,
    Bytes = 1,
    Watch = 2,
    Broadcast = 3,
    Lossy = 4,
    Work = 5,
    WorkBytes = 12,
    QuestionBytes = 13,
    AnswerBytes = 14,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Sender = 0,
    Receiver = 1,
}

/// Two sockets of packets.
pub fn pair() -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).expect("a pair of sockets")
}

/// The name of no type, hashed: FNV-1a of nothing.
const NO_NAME: [u64; 2] = [0x62b8_2175_6295_c58d, 0x6c62_272e_07bb_0142];

pub struct Liar {
    pub socket: OwnedFd,
    pub page: Memory,
    /// What it shares with others, if it is the sender of such a kind.
    pub shared: Option<Memory>,
    bell: OwnedFd,
    is_careful: Cell<bool>,
    /// That of its peer, whose hello it has heard.
    peers_bell: OnceCell<Option<OwnedFd>>,
}

impl Liar {
    /// An honest one so far. `ring`: the bytes of its ring, if it is a sender, or gives answers.
    pub fn new(socket: OwnedFd, kind: Kind, role: Role, shape: (usize, usize), capacity: usize, ring: usize) -> Self {
        let is_shared = role == Role::Sender && matches!(kind, Kind::Watch | Kind::Broadcast | Kind::Lossy);
        let whole = PAGE + ring.next_multiple_of(PAGE);
        let has_ring = role == Role::Sender || kind == Kind::AnswerBytes;
        let page = Memory::new(if is_shared || !has_ring { PAGE } else { whole });
        let capacity = if has_ring { capacity } else { 0 };
        let facts = [
            MAGIC,
            VERSION,
            (role as u64) << 8 | kind as u64,
            shape.0 as u64,
            shape.1 as u64,
            capacity as u64,
            page.bytes() as u64,
            0,
            NO_NAME[0],
            NO_NAME[1],
            0,
            0,
        ];
        HEADER.iter().zip(facts).for_each(|(at, fact)| page.set(*at, fact));
        page.set(crate::FENCED, 1);
        let shared = is_shared.then(|| Memory::new(whole));
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).expect("an eventfd");
        Self { socket, page, shared, bell, is_careful: Cell::new(false), peers_bell: OnceCell::new() }
    }

    /// Says an honest hello, with all descriptors or with its memory alone.
    pub fn hello(&self, is_careful: bool) {
        let flags = if is_careful { CAREFUL } else { 0 } | if self.shared.is_some() { SHARING } else { 0 };
        let process = process();
        let mut descriptors = vec![self.page.as_fd()];
        descriptors.extend(self.shared.as_ref().map(Memory::as_fd));
        if !is_careful {
            descriptors.extend([self.bell.as_fd(), process.as_fd()]);
        }
        self.is_careful.set(is_careful);
        send(self.socket.as_fd(), &packet(flags, 0), &descriptors);
    }

    /// Wakes its peer, the receiver of a funnel, whether that sleeps or not.
    pub fn wake(&self) {
        if self.is_careful.get() {
            return send(self.socket.as_fd(), &[1], &[]);
        }
        if let Some(bell) = self.peers_bell.get_or_init(|| bell_in_hello(self.socket.as_fd())) {
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    }

    /// Writes a lie into its page.
    pub fn lie_in_page(&self, input: &mut Input, near: &[u64]) -> usize {
        let at = WORDS[input.below(WORDS.len())];
        self.page.set(at, input.lie(near));
        at
    }
}

/// The second descriptor of a hello without shared memory.
fn bell_in_hello(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let mut room = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let (mut bytes, flags) = ([0; 24], RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC);
    recvmsg(socket, &mut [std::io::IoSliceMut::new(&mut bytes)], &mut control, flags).ok()?;
    let descriptors = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    descriptors.collect::<Vec<_>>().into_iter().nth(1)
}

/// A descriptor of this process, which does not die.
fn process() -> OwnedFd {
    rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).expect("a pidfd")
}

pub fn packet(flags: u32, what: u64) -> [u8; 24] {
    let mut packet = [0; 24];
    for (at, word) in [HELLO, VERSION << 32 | u64::from(flags), what].into_iter().enumerate() {
        packet[at * 8..][..8].copy_from_slice(&word.to_ne_bytes());
    }
    packet
}

fn send(socket: BorrowedFd<'_>, packet: &[u8], descriptors: &[BorrowedFd<'_>]) {
    let mut room = [core::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)));
    }
    // The end may have hung up, or its queue may be full.
    let _ = sendmsg(socket, &[std::io::IoSlice::new(packet)], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// A packet with descriptors: any bytes, and any descriptors, or nearly a hello.
pub struct Packet {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Packet {
    /// What this one says who has an honest end: that of its hello is changed.
    pub fn of(input: &mut Input, liar: &Liar) -> Self {
        let (has_shared, is_careful) = (liar.shared.is_some(), input.flip());
        let flags = if is_careful { CAREFUL } else { 0 } | if has_shared { SHARING } else { 0 };
        let mut bytes = packet(flags, 0).to_vec();
        let mut descriptors = vec![copy(liar.page.as_fd())];
        descriptors.extend(liar.shared.as_ref().map(|shared| copy(shared.as_fd())));
        if !is_careful {
            descriptors.extend([copy(liar.bell.as_fd()), process()]);
        }
        for _ in 0..input.below(4) {
            change(input, liar, &mut bytes, &mut descriptors);
        }
        Self { bytes, descriptors }
    }

    pub fn send(&self, socket: BorrowedFd<'_>) {
        let descriptors: Vec<_> = self.descriptors.iter().take(8).map(AsFd::as_fd).collect();
        send(socket, &self.bytes, &descriptors);
    }
}

fn copy(descriptor: BorrowedFd<'_>) -> OwnedFd {
    descriptor.try_clone_to_owned().expect("a descriptor")
}

fn change(input: &mut Input, liar: &Liar, bytes: &mut Vec<u8>, descriptors: &mut Vec<OwnedFd>) {
    match input.below(9) {
        0 => *bytes = input.bytes(64).to_vec(),
        1 => bytes.truncate(input.below(25)),
        2 => bytes.extend_from_slice(input.bytes(64)),
        3 => {
            let at = 8 * input.below(3);
            if bytes.len() >= at + 8 {
                let honest = u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
                bytes[at..at + 8].copy_from_slice(&input.lie(&[honest, 1, 2, 12 << 32 | 2]).to_ne_bytes());
            }
        }
        4 => descriptors.truncate(input.below(5)),
        5 if descriptors.len() > 1 => {
            let (one, other) = (input.below(descriptors.len()), input.below(descriptors.len()));
            descriptors.swap(one, other);
        }
        6 if !descriptors.is_empty() => {
            let at = input.below(descriptors.len());
            descriptors[at] = descriptor(input, liar);
        }
        7 => descriptors.push(descriptor(input, liar)),
        // The memory, before it is looked at.
        _ => {
            let at = HEADER[input.below(HEADER.len())];
            liar.page.set(at, input.lie(&[liar.page.get(at)]));
        }
    }
}

/// A descriptor that does not belong there.
fn descriptor(input: &mut Input, liar: &Liar) -> OwnedFd {
    let all = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL | SealFlags::FUTURE_WRITE;
    match input.below(11) {
        0 => copy(liar.page.as_fd()),
        1 => copy(liar.shared.as_ref().map_or(liar.page.as_fd(), Memory::as_fd)),
        2 => copy(liar.bell.as_fd()),
        3 => copy(liar.socket.as_fd()),
        4 => pair().0,
        5 => rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe").1,
        6 => process(),
        7 => rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC).expect("an epoll"),
        8 => std::fs::File::open("/dev/null").expect("a file").into(),
        9 => copy(
            Memory::with(
                PAGE * (1 + input.below(3)),
                all.difference(SealFlags::from_bits_retain(1 << input.below(5))),
                input.flip(),
            )
            .as_fd(),
        ),
        _ => copy(Memory::with(PAGE * (1 + input.below(3)), all, input.flip()).as_fd()),
    }
}

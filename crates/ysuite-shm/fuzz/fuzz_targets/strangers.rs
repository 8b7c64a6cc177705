//! Strangers to a listener, one after the other and many at once: by its name or by a seat, with packets of any kind and
//! memory that lies. An innocent peer beside them neither waits for them nor gets anything of theirs.
#![no_main]

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{
    BroadcastReceiver, BroadcastSender, Bytes, BytesSender, Funnel, Options, Sender, WatchReceiver, WatchSender,
    WorkReceiver, WorkSender,
};
use ysuite_shm_fuzz::{Input, Kind, Liar, Packet, RING, Role, attempt};

/// Who listens, with an innocent peer.
trait Home {
    /// An end that would fit the home.
    fn liar(&self, socket: OwnedFd) -> Liar;
    fn seat(&mut self) -> OwnedFd;
    /// The home and the innocent one exchange a message.
    fn exchange(&mut self);
    fn arm(&mut self) -> bool;
    /// When all strangers have gone: the home has one peer.
    fn is_with_one(&mut self) -> bool;
}

/// How often a home looks for the message of the innocent one among those of liars.
const LOOKS: u64 = 100_000;

struct OfMessages(Funnel<u64>, Sender<u64>, u64, u64);

impl Home for OfMessages {
    fn liar(&self, socket: OwnedFd) -> Liar {
        Liar::new(socket, Kind::Typed, Role::Sender, (8, 8), 8, 3 * 64)
    }

    fn seat(&mut self) -> OwnedFd {
        self.0.seat().unwrap().1
    }

    fn exchange(&mut self) {
        let Self(funnel, sender, innocent, next) = self;
        sender.try_send(*next).unwrap();
        let received = (0..LOOKS).find_map(|_| funnel.try_recv_from().ok().filter(|(from, _)| from == innocent));
        assert_eq!(received, Some((*innocent, *next)));
        *next += 1;
        while funnel.next_ended().is_some() {}
    }

    fn arm(&mut self) -> bool {
        self.0.arm()
    }

    fn is_with_one(&mut self) -> bool {
        self.0.senders() == 1
    }
}

struct OfBytes(Funnel<Bytes>, BytesSender, u64, u8);

impl Home for OfBytes {
    fn liar(&self, socket: OwnedFd) -> Liar {
        Liar::new(socket, Kind::Bytes, Role::Sender, (1, 1), 128, 128)
    }

    fn seat(&mut self) -> OwnedFd {
        self.0.seat().unwrap().1
    }

    fn exchange(&mut self) {
        let Self(funnel, sender, innocent, next) = self;
        let message = vec![*next; usize::from(*next) % 50];
        sender.try_send(&message).unwrap();
        let received = (0..LOOKS).find_map(|_| funnel.try_recv_from().ok().filter(|(from, _)| from == innocent));
        assert_eq!(received, Some((*innocent, Bytes(message))));
        *next = next.wrapping_add(1);
    }

    fn arm(&mut self) -> bool {
        self.0.arm()
    }

    fn is_with_one(&mut self) -> bool {
        self.0.senders() == 1
    }
}

struct OfWatch(WatchSender<u64>, WatchReceiver<u64>, u64);

impl Home for OfWatch {
    fn liar(&self, socket: OwnedFd) -> Liar {
        Liar::new(socket, Kind::Watch, Role::Receiver, (8, 8), 0, 0)
    }

    fn seat(&mut self) -> OwnedFd {
        self.0.seat().unwrap()
    }

    fn exchange(&mut self) {
        self.2 += 1;
        self.0.send(self.2);
        assert_eq!(self.1.try_recv(), Ok(self.2));
    }

    fn arm(&mut self) -> bool {
        self.0.arm()
    }

    fn is_with_one(&mut self) -> bool {
        self.0.serve();
        self.0.receivers() == 1
    }
}

/// Lossy, as it would wait for a liar that reads nothing.
struct OfBroadcast(BroadcastSender<u64>, BroadcastReceiver<u64>, u64);

impl Home for OfBroadcast {
    fn liar(&self, socket: OwnedFd) -> Liar {
        Liar::new(socket, Kind::Broadcast, Role::Receiver, (8, 8), 0, 0)
    }

    fn seat(&mut self) -> OwnedFd {
        self.0.seat().unwrap()
    }

    fn exchange(&mut self) {
        self.0.try_send(self.2).unwrap();
        assert_eq!(self.1.try_recv(), Ok(self.2));
        self.2 += 1;
    }

    fn arm(&mut self) -> bool {
        self.0.arm()
    }

    fn is_with_one(&mut self) -> bool {
        self.0.serve();
        self.0.receivers() == 1
    }
}

struct OfWork(WorkSender<u64>, WorkReceiver<u64>, u64);

impl Home for OfWork {
    fn liar(&self, socket: OwnedFd) -> Liar {
        Liar::new(socket, Kind::Work, Role::Receiver, (8, 8), 0, 0)
    }

    fn seat(&mut self) -> OwnedFd {
        self.0.seat().unwrap()
    }

    /// A liar may have got the job.
    fn exchange(&mut self) {
        self.2 += u64::from(self.0.try_send(self.2).is_ok());
        while let Ok(job) = self.1.try_recv() {
            job.finish();
        }
    }

    fn arm(&mut self) -> bool {
        self.0.arm_to_settle()
    }

    fn is_with_one(&mut self) -> bool {
        self.0.serve();
        if self.0.workers() != 1 {
            return false;
        }
        while !self.0.settle_timeout(Duration::ZERO).unwrap() {
            while let Ok(job) = self.1.try_recv() {
                job.finish();
            }
        }
        assert_eq!((self.0.finished(), self.0.unfinished()), (self.2, 0));
        true
    }
}

fn home(input: &mut Input, name: &str) -> Box<dyn Home> {
    let options = if input.flip() { Options::new().careful() } else { Options::new() };
    match input.below(5) {
        0 => {
            let mut funnel = options.funnel(name).unwrap();
            let (number, seat) = funnel.seat().unwrap();
            Box::new(OfMessages(funnel, options.sender(seat, 4).unwrap(), number, 0))
        }
        1 => {
            let mut funnel = options.funnel(name).unwrap();
            let (number, seat) = funnel.seat().unwrap();
            Box::new(OfBytes(funnel, options.bytes_sender(seat, 64).unwrap(), number, 0))
        }
        2 => {
            let mut sender = options.watch(name, 0).unwrap();
            let receiver = options.watch_receiver(sender.seat().unwrap()).unwrap();
            Box::new(OfWatch(sender, receiver, 0))
        }
        3 => {
            let mut sender = options.lossy().broadcast(name, 8).unwrap();
            let receiver = Options::new().broadcast_receiver(sender.seat().unwrap()).unwrap();
            sender.serve();
            Box::new(OfBroadcast(sender, receiver, 0))
        }
        _ => {
            let mut sender = options.work(name, 3).unwrap();
            let receiver = options.work_receiver(sender.seat().unwrap()).unwrap();
            Box::new(OfWork(sender, receiver, 0))
        }
    }
}

fn run(input: &mut Input) {
    let name = format!("fuzz-{}", std::process::id());
    let mut home = home(input, &name);
    let mut liars: Vec<Liar> = Vec::new();
    while !input.is_over() {
        let at = input.below(liars.len().max(1));
        match (input.below(8), liars.get(at)) {
            (0, _) if liars.len() < 6 => {
                let socket = if input.flip() { home.seat() } else { ysuite_shm::connect(&name).unwrap() };
                liars.push(home.liar(socket));
            }
            (1 | 2, Some(liar)) => Packet::of(input, liar).send(liar.socket.as_fd()),
            (3, Some(liar)) => liar.hello(input.flip()),
            (4, Some(liar)) => _ = liar.lie_in_page(input, &[8, 64]),
            (5, Some(liar)) => {
                let word = RING + 8 * input.below(24);
                liar.page.set(word, input.lie(&[7, 8, 64]));
            }
            (6, Some(_)) => drop(liars.swap_remove(at)),
            (7, _) => _ = home.arm(),
            _ => home.exchange(),
        }
    }
    drop(liars);
    home.exchange();
    // Each call takes notice of some.
    assert!((0..20).any(|_| {
        home.arm();
        home.exchange();
        home.is_with_one()
    }));
}

fuzz_target!(|data: &[u8]| attempt(data, run));

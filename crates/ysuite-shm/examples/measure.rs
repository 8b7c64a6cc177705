//! Measures this crate beside pipe(2), unix sockets and an in-process channel, in one run, so that ratios can be taken.
//! Nanoseconds: of a ping-pong one way, of a stream for each message. The smallest, the middle and the largest of the
//! rounds.
//!
//! ```sh
//! cargo run --release -p ysuite-shm --example measure -- [rounds [part of a cell's name]]
//! ```

#[cfg(target_os = "linux")]
mod transports {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use ysuite_shm::{Caller, Funnel, Message, Question, Receiver, Sender, connect, pipe};

    /// Runs the current thread on this processor, and if it may before all others: no cell takes long.
    pub(crate) fn pin(processor: usize) {
        // SAFETY: a plain bit set, and a call that reads it.
        unsafe {
            let mut set: libc::cpu_set_t = core::mem::zeroed();
            libc::CPU_SET(processor, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
            libc::sched_setscheduler(0, libc::SCHED_FIFO, &libc::sched_param { sched_priority: 10 });
        }
    }

    /// Runs `child` in another process on one processor, and `parent` here on another.
    fn two(processors: [usize; 2], child: impl FnOnce(), parent: impl FnOnce() -> f64) -> f64 {
        // The child begins where it stays: the parent may never leave its own processor to it.
        pin(processors[1]);
        // SAFETY: this program has one thread.
        let id = unsafe { libc::fork() };
        if id == 0 {
            child();
            std::process::exit(0);
        }
        pin(processors[0]);
        let measured = parent();
        let mut status = 0;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(id, &mut status, 0) };
        assert_eq!(status, 0);
        measured
    }

    fn nanoseconds(from: Instant, messages: u64) -> f64 {
        from.elapsed().as_nanos() as f64 / messages as f64
    }

    type Ends<T> = (Sender<T>, Receiver<T>);

    fn ours<T: Message>(capacity: usize) -> ((OwnedFd, OwnedFd), usize) {
        let (sender, receiver) = pipe::<T>(capacity).unwrap();
        ((sender.into_fd().unwrap(), receiver.into_fd().unwrap()), capacity)
    }

    pub(crate) fn ours_ping_pong(processors: [usize; 2], round_trips: u64, spin: u32) -> f64 {
        let (((sender, from_here), _), ((back, receiver), _)) = (ours::<u64>(16), ours::<u64>(16));
        let ends = move |sender: OwnedFd, receiver: OwnedFd| -> Ends<u64> {
            let (mut sender, mut receiver) =
                (Sender::from_fd(sender, 16).unwrap(), Receiver::from_fd(receiver).unwrap());
            sender.set_spin(spin);
            receiver.set_spin(spin);
            (sender, receiver)
        };
        let child = move || {
            let (mut sender, mut receiver) = ends(back, from_here);
            receiver.iter().take(round_trips as usize).for_each(|message| sender.send(message).unwrap());
        };
        two(processors, child, move || {
            let (mut sender, mut receiver) = ends(sender, receiver);
            let mut start = Instant::now();
            for message in 0..round_trips {
                if message == round_trips / 10 {
                    start = Instant::now();
                }
                sender.send(message).unwrap();
                receiver.recv().unwrap();
            }
            nanoseconds(start, 2 * (round_trips - round_trips / 10))
        })
    }

    /// As a ping-pong: half of a call.
    pub(crate) fn ours_calls(processors: [usize; 2], calls: u64, spin: u32) -> f64 {
        let name = format!("measure-{}", std::process::id());
        let child = || {
            let mut funnel = Funnel::<Question<u64, u64>>::bind(&name).unwrap();
            funnel.set_spin(spin);
            funnel.iter().take(calls as usize).for_each(|question| {
                let answer = *question;
                question.answer(answer);
            });
        };
        two(processors, child, || {
            let socket = loop {
                match connect(&name) {
                    Ok(socket) => break socket,
                    Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
                }
            };
            let mut caller = Caller::<u64, u64>::from_fd(socket).unwrap();
            caller.set_spin(spin);
            let mut start = Instant::now();
            for question in 0..calls {
                if question == calls / 10 {
                    start = Instant::now();
                }
                caller.call(question).unwrap();
            }
            nanoseconds(start, 2 * (calls - calls / 10))
        })
    }

    pub(crate) fn ours_stream<T: Message>(
        messages: u64,
        capacity: usize,
        make: impl Fn(u64) -> T,
        sum: impl Fn(&T) -> u64,
    ) -> f64 {
        let ((sender, receiver), capacity) = ours::<T>(capacity);
        let child = move || {
            let mut sender = Sender::<T>::from_fd(sender, capacity).unwrap();
            (0..messages).for_each(|number| sender.send(make(number)).unwrap());
        };
        two([0, 1], child, move || {
            let mut receiver = Receiver::<T>::from_fd(receiver).unwrap();
            let mut total = sum(&receiver.recv().unwrap());
            let start = Instant::now();
            (1..messages).for_each(|_| total = total.wrapping_add(sum(&receiver.recv().unwrap())));
            std::hint::black_box(total);
            nanoseconds(start, messages)
        })
    }

    /// From the kill of a sender until its receiver, which sleeps, has been told.
    pub(crate) fn death() -> f64 {
        let ((sender, receiver), capacity) = ours::<u64>(16);
        // SAFETY: this program has one thread.
        let id = unsafe { libc::fork() };
        if id == 0 {
            let mut sender = Sender::<u64>::from_fd(sender, capacity).unwrap();
            sender.send(0).unwrap();
            loop {
                std::thread::park();
            }
        }
        drop(sender);
        let mut receiver = Receiver::<u64>::from_fd(receiver).unwrap();
        receiver.recv().unwrap();
        let start = Instant::now();
        // SAFETY: kills the child.
        unsafe { libc::kill(id, libc::SIGKILL) };
        assert_eq!(receiver.recv(), Err(ysuite_shm::Error::Died));
        let measured = nanoseconds(start, 1);
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(id, core::ptr::null_mut(), 0) };
        measured
    }

    pub(crate) fn threads_stream(messages: u64, capacity: usize) -> f64 {
        let (mut sender, mut receiver) = ysuite::spsc::bounded::<u64>(capacity);
        pin(1);
        let sending = std::thread::spawn(move || {
            (0..messages).for_each(|number| sender.send(number).unwrap());
        });
        pin(0);
        let mut total = receiver.recv().unwrap();
        let start = Instant::now();
        (1..messages).for_each(|_| total = total.wrapping_add(receiver.recv().unwrap()));
        std::hint::black_box(total);
        let measured = nanoseconds(start, messages);
        sending.join().unwrap();
        measured
    }

    /// A pair of descriptors for each direction: where to write, where to read.
    pub(crate) fn system_pipes() -> (File, File) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (File::from(writer), File::from(reader))
    }

    pub(crate) fn sockets() -> (File, File) {
        let (one, other) = UnixStream::pair().unwrap();
        (File::from(OwnedFd::from(one)), File::from(OwnedFd::from(other)))
    }

    pub(crate) fn file_ping_pong(processors: [usize; 2], round_trips: u64, pair: fn() -> (File, File)) -> f64 {
        let ((mut to, mut from_here), (mut back, mut from)) = (pair(), pair());
        let child = move || {
            let mut message = [0; 8];
            for _ in 0..round_trips {
                from_here.read_exact(&mut message).unwrap();
                back.write_all(&message).unwrap();
            }
        };
        two(processors, child, move || {
            let (mut message, mut start) = ([0; 8], Instant::now());
            for number in 0..round_trips {
                if number == round_trips / 10 {
                    start = Instant::now();
                }
                to.write_all(&message).unwrap();
                from.read_exact(&mut message).unwrap();
            }
            nanoseconds(start, 2 * (round_trips - round_trips / 10))
        })
    }

    pub(crate) fn file_stream(messages: u64, size: usize, pair: fn() -> (File, File)) -> f64 {
        let (mut to, mut from) = pair();
        let child = move || {
            let mut message = vec![0_u8; size];
            for number in 0..messages {
                message.fill(number as u8);
                to.write_all(&message).unwrap();
            }
        };
        two([0, 1], child, move || {
            let mut message = vec![0_u8; size];
            let (start, mut total) = (Instant::now(), 0_u64);
            for _ in 0..messages {
                from.read_exact(&mut message).unwrap();
                total += message.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            }
            std::hint::black_box(total);
            nanoseconds(start, messages)
        })
    }
}

/// A cell: its name, and how it is measured.
#[cfg(target_os = "linux")]
type Cell = (&'static str, Box<dyn Fn() -> f64>);

#[cfg(target_os = "linux")]
fn cells() -> Vec<Cell> {
    use transports::*;

    let bytes = |page: &[u8; 4096]| page.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    vec![
        ("notice of a death         ours", Box::new(death)),
        ("ping-pong spinning        ours", Box::new(|| ours_ping_pong([0, 1], 200_000, u32::MAX))),
        ("ping-pong spinning        calls", Box::new(|| ours_calls([0, 1], 200_000, u32::MAX))),
        ("ping-pong asleep, 1 CPU   ours", Box::new(|| ours_ping_pong([0, 0], 50_000, 0))),
        ("ping-pong asleep, 1 CPU   calls", Box::new(|| ours_calls([0, 0], 50_000, 0))),
        ("ping-pong asleep, 1 CPU   pipe(2)", Box::new(|| file_ping_pong([0, 0], 50_000, system_pipes))),
        ("ping-pong asleep, 1 CPU   unix", Box::new(|| file_ping_pong([0, 0], 50_000, sockets))),
        ("ping-pong asleep, 2 CPUs  ours", Box::new(|| ours_ping_pong([0, 1], 30_000, 0))),
        ("ping-pong asleep, 2 CPUs  pipe(2)", Box::new(|| file_ping_pong([0, 1], 30_000, system_pipes))),
        ("ping-pong asleep, 2 CPUs  unix", Box::new(|| file_ping_pong([0, 1], 30_000, sockets))),
        (
            "stream of 8 B             ours",
            Box::new(|| ours_stream(10_000_000, 4096, |number| number, |number| *number)),
        ),
        ("stream of 8 B             threads", Box::new(|| threads_stream(10_000_000, 4096))),
        ("stream of 8 B             pipe(2)", Box::new(|| file_stream(300_000, 8, system_pipes))),
        ("stream of 8 B             unix", Box::new(|| file_stream(300_000, 8, sockets))),
        (
            "stream of 4 KiB           ours",
            Box::new(move || ours_stream(100_000, 64, |number| [number as u8; 4096], bytes)),
        ),
        ("stream of 4 KiB           pipe(2)", Box::new(|| file_stream(100_000, 4096, system_pipes))),
        ("stream of 4 KiB           unix", Box::new(|| file_stream(100_000, 4096, sockets))),
    ]
}

#[cfg(target_os = "linux")]
fn main() {
    let wanted = std::env::args().nth(2).unwrap_or_default();
    let rounds = std::env::args().nth(1).map_or(3, |rounds| rounds.parse().expect("a number of rounds"));
    let cells = cells();
    let mut measured = vec![Vec::new(); cells.len()];
    for _ in 0..rounds {
        for (figures, (name, cell)) in measured.iter_mut().zip(&cells) {
            if name.contains(&wanted) {
                figures.push(cell());
            }
        }
    }
    for (figures, (name, _)) in measured.iter_mut().zip(&cells) {
        if figures.is_empty() {
            continue;
        }
        figures.sort_by(f64::total_cmp);
        println!("{name:36} {:9.1} {:9.1} {:9.1}", figures[0], figures[figures.len() / 2], figures[figures.len() - 1]);
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

//! Sleeping and waking through descriptors: the baseline of every transport that works with epoll alongside sockets.
//!
//! ```text
//!   ping   write eventfd A, (epoll_wait,) read eventfd B    |    pong   (epoll_wait,) read eventfd A, write eventfd B
//! ```

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::{EventfdFlags, epoll as poller, eventfd as new_eventfd};
use rustix::io::{Errno, read, write};

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, duet};

/// A descriptor to signal, and the way to wait for it.
struct Bell {
    counter: OwnedFd,
    epoll: Option<OwnedFd>,
}

impl Bell {
    fn new(in_epoll: bool) -> Result<Self, Fault> {
        let flags = if in_epoll { EventfdFlags::NONBLOCK } else { EventfdFlags::empty() };
        let counter = new_eventfd(0, EventfdFlags::CLOEXEC | flags)?;
        let epoll = if in_epoll { Some(watch(counter.as_fd())?) } else { None };
        Ok(Self { counter, epoll })
    }

    fn ring(&self) -> Result<(), Fault> {
        until_done(|| write(&self.counter, &1u64.to_ne_bytes()))
    }

    fn wait(&self) -> Result<(), Fault> {
        if let Some(epoll) = &self.epoll {
            let mut events = [MaybeUninit::uninit(); 8];
            until_done(|| poller::wait(epoll, &mut events, None).map(|_| 0))?;
        }
        until_done(|| read(&self.counter, &mut [0; 8]))
    }
}

fn watch(counter: BorrowedFd<'_>) -> Result<OwnedFd, Fault> {
    let epoll = poller::create(poller::CreateFlags::CLOEXEC)?;
    poller::add(&epoll, counter, poller::EventData::new_u64(0), poller::EventFlags::IN)?;
    Ok(epoll)
}

fn until_done(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<(), Fault> {
    loop {
        match call() {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

pub fn eventfd(place: Place, messages: u64) -> Result<Timed, Fault> {
    ping_pong(place, messages, false)
}

pub fn epoll(place: Place, messages: u64) -> Result<Timed, Fault> {
    ping_pong(place, messages, true)
}

fn ping_pong(place: Place, messages: u64, in_epoll: bool) -> Result<Timed, Fault> {
    let bounces = messages.div_ceil(2);
    let bells = Arc::new([Bell::new(in_epoll)?, Bell::new(in_epoll)?]);
    let others = bells.clone();
    let (ping, pong) = duet(
        place,
        messages,
        move |gate| -> Result<_, Fault> {
            gate.pass();
            let [there, back] = &*bells;
            let start = Instant::now();
            for _ in 0..bounces {
                there.ring()?;
                back.wait()?;
            }
            Ok((start, Instant::now()))
        },
        move |gate| -> Result<(), Fault> {
            gate.pass();
            let [there, back] = &*others;
            for _ in 0..bounces {
                there.wait()?;
                back.ring()?;
            }
            Ok(())
        },
    )?;
    pong?;
    let (start, end) = ping?;
    Ok(Timed::between(start, end, 2 * bounces))
}

//! Two channels in an event loop, alongside the sockets that it serves. `cargo run -p ysuite --example attached_epoll`

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use rustix::event::epoll;
    use ysuite::{signal::Wait, signal::YSocketpair, spsc};

    let ((mut numbers, mut numbers_in), (mut words, mut words_in)) = (spsc::unbounded(), spsc::unbounded());
    let mut set = YSocketpair::new()?;
    set.attach(&mut numbers_in, 0)?;
    set.attach(&mut words_in, 1)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;

    std::thread::spawn(move || (0..5).for_each(|number| numbers.send(number).expect("a listener")));
    std::thread::spawn(move || ["one", "two"].map(|word| words.send(word).expect("a listener")));

    let mut over = [false; 2];
    while over != [true; 2] {
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut Vec::with_capacity(8)), None)?;
        for id in set.check() {
            over[id] = if id == 0 { is_over(&mut numbers_in) } else { is_over(&mut words_in) };
        }
    }
    Ok(())
}

/// Reads all messages. An id stays up, and the descriptor readable, until its receiver has found itself empty.
#[cfg(target_os = "linux")]
fn is_over<T: std::fmt::Debug>(receiver: &mut ysuite::spsc::Receiver<T>) -> bool {
    loop {
        match receiver.try_recv() {
            Ok(message) => println!("{message:?}"),
            Err(error) => return error.is_disconnected(),
        }
    }
}

//! A channel and a timeout in mio's poll. `cargo run -p ysuite --features mio --example with_mio`

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    use ysuite::{signal::Wait, signal::YSocketpair, spsc};

    let (mut poll, mut events) = (mio::Poll::new()?, mio::Events::with_capacity(8));
    let mut set = YSocketpair::new()?;
    let (mut sender, mut receiver) = spsc::unbounded();
    set.attach(&mut receiver, 0)?;
    poll.registry().register(&mut set, mio::Token(0), mio::Interest::READABLE)?;
    std::thread::spawn(move || (0..5).for_each(|number| sender.send(number).expect("a listener")));

    let mut sum = 0;
    loop {
        poll.poll(&mut events, Some(std::time::Duration::from_secs(1)))?;
        // Edge-triggered: until the set is empty. A disconnected channel stays up.
        while !set.check().is_empty() {
            sum += receiver.try_iter().inspect(|number| println!("{number}")).sum::<i32>();
            if receiver.is_disconnected() && receiver.is_empty() {
                assert_eq!(sum, 10);
                return Ok(());
            }
        }
    }
}

#[cfg(not(unix))]
fn main() {}

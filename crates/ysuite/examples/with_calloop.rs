//! A channel and a timer in calloop's event loop. `cargo run -p ysuite --features calloop --example with_calloop`

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::time::Duration;

    use calloop::channel::Event;
    use calloop::timer::{TimeoutAction, Timer};
    use ysuite::integrations::calloop::ReceiverSource;
    use ysuite::mpsc;

    let mut event_loop = calloop::EventLoop::<i32>::try_new()?;
    let (mut sender, receiver) = mpsc::unbounded();
    let (handle, signal) = (event_loop.handle(), event_loop.get_signal());
    handle.insert_source(ReceiverSource::new(receiver)?, move |event, (), sum| match event {
        Event::Msg(number) => *sum += number,
        Event::Closed => signal.stop(),
    })?;
    let tick = Duration::from_millis(1);
    handle.insert_source(Timer::from_duration(tick), move |_, (), sum| {
        println!("{sum} so far");
        TimeoutAction::ToDuration(tick)
    })?;

    for _ in 0..3 {
        let mut sender = sender.clone();
        std::thread::spawn(move || (0..100).for_each(|number| sender.send(number).expect("a listener")));
    }
    sender.send(50)?;
    drop(sender);
    let mut sum = 0;
    event_loop.run(None, &mut sum, |_| {})?;
    assert_eq!(sum, 3 * 4950 + 50);
    Ok(())
}

#[cfg(not(unix))]
fn main() {}

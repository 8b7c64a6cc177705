//! One task of tokio serves many channels through one descriptor, alongside a timer.
//!
//! `cargo run -p ysuite --features tokio --example with_tokio`

#[cfg(unix)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    use ysuite::{integrations::tokio::AsyncSocketpair, signal::YSocketpair, spsc};

    let mut set = AsyncSocketpair::new(YSocketpair::new()?)?;
    let mut receivers = Vec::new();
    for id in 0..10 {
        let (mut sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, id)?;
        receivers.push(receiver);
        std::thread::spawn(move || (0..100).for_each(|number| sender.send(number).expect("a listener")));
    }

    let (mut sum, mut over) = (0, 0);
    let mut tick = tokio::time::interval(std::time::Duration::from_millis(1));
    while over < receivers.len() {
        tokio::select! {
            _ = tick.tick() => println!("{sum} so far"),
            signals = set.signals() => for id in signals? {
                sum += receivers[id].try_iter().sum::<i32>();
                if receivers[id].is_disconnected() && receivers[id].is_empty() {
                    set.detach(&mut receivers[id]);
                    over += 1;
                }
            },
        }
    }
    assert_eq!(sum, 10 * 4950);
    Ok(())
}

#[cfg(not(unix))]
fn main() {}

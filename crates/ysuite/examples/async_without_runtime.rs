//! A channel between a thread and a future, which needs no runtime: here it runs on a thread that parks.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use ysuite::spsc;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let (mut sender, mut receiver) = spsc::bounded(4);
    thread::spawn(move || (1..=10).for_each(|number| sender.send(number).expect("a listener")));
    block_on(async {
        while let Ok(number) = receiver.recv_async().await {
            println!("{number}");
        }
    });
}

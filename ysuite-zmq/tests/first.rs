//! Two bridges in one process.

use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Context, Event};

fn there_and_back(address: &str, pack: usize) {
    let context = Context::new(1).unwrap();
    let (pull, mut work) = Bridge::pull::<u64>().context(&context).bind(address).bounded(4_096).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(4_096);
    let push = Bridge::push(out).context(&context).connect(&pull.addresses()[0]).pack(pack).start().unwrap();
    const MESSAGES: u64 = 100_000;
    let sender = std::thread::spawn(move || (0..MESSAGES).for_each(|number| jobs.send(number).unwrap()));
    for number in 0..MESSAGES {
        assert_eq!(work.recv_timeout(Duration::from_secs(30)), Ok(number));
    }
    sender.join().unwrap();
    println!("{address} {:?} {:?}", push.statistics(), pull.statistics());
    assert_eq!(push.close(Duration::from_secs(5)), Closed::Flushed);
    let events = pull.events();
    println!("{:?}", std::iter::from_fn(|| events.try_recv().ok()).collect::<Vec<Event>>());
    assert_eq!(pull.close(Duration::from_secs(5)), Closed::Flushed);
}

#[test]
fn messages_go_over_every_transport_in_order() {
    for pack in [1, 256] {
        there_and_back("tcp://127.0.0.1:*", pack);
        there_and_back("ipc://*", pack);
        there_and_back("inproc://there", pack);
    }
}

use std::time::Duration;
use ysuite::spsc;
use ysuite_zmq::{Bridge, Closed, Context, Event};

fn talk(address: &str, pack: usize, keeps: bool, bound: usize) {
    let context = Context::new(1).unwrap();
    let (mut asks, out) = spsc::bounded::<u64>(1000);
    let (mut answers, back) = spsc::bounded::<u64>(1000);
    let server = Bridge::duplex::<_, u64>(back).context(&context).bind(address).bounded(bound).pack(pack);
    let server = if keeps { server.at_least_once() } else { server };
    let (server, mut asked) = server.start().unwrap();
    let client = Bridge::duplex::<_, u64>(out).context(&context).connect(&server.addresses()[0]).bounded(bound).pack(pack);
    let client = if keeps { client.at_least_once() } else { client };
    let (client, mut answered) = client.start().unwrap();
    const N: u64 = 100_000;
    let a = std::thread::spawn(move || (0..N).for_each(|n| asks.send(n).unwrap()));
    let b = std::thread::spawn(move || {
        let mut expected = 0;
        while let Ok(n) = asked.recv() {
            assert_eq!(n, expected);
            expected += 1;
            answers.send(n * 3).unwrap();
        }
        expected
    });
    for n in 0..N {
        assert_eq!(answered.recv_timeout(Duration::from_secs(30)), Ok(n * 3), "{address} {:?} {:?}", client.statistics(), server.statistics());
    }
    a.join().unwrap();
    assert_eq!(b.join().unwrap(), N);
    assert!(answered.recv_timeout(Duration::from_secs(5)).is_err());
    println!("{address} {pack} {keeps} {:?} {:?}", client.statistics(), server.statistics());
    let events = server.events();
    println!("{:?}", std::iter::from_fn(|| events.try_recv().ok()).collect::<Vec<Event>>());
    assert_eq!(client.close(Duration::from_secs(5)), Closed::Flushed);
    assert_eq!(server.close(Duration::from_secs(5)), Closed::Flushed);
}

#[test]
fn a_conversation() {
    for keeps in [false, true] {
        for (pack, bound) in [(1, 1), (1, 1000), (256, 4096), (256, 10)] {
            for a in ["tcp://127.0.0.1:*", "ipc://*", "inproc://there"] {
                let t = std::time::Instant::now();
                talk(a, pack, keeps, bound);
                println!("{:?}", t.elapsed());
            }
        }
    }
}

//! The lines of Rust that `ybench choose` answers with. It prints what stands between "recipe" and "end"; the tests
//! compile and run all of it.

type Message = u64;

pub(crate) fn spsc() {
    // recipe: spsc
    let (mut tx, mut rx) = ysuite::spsc::unbounded::<Message>();
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn spsc_bounded() {
    // recipe: spsc-bounded
    let (mut tx, mut rx) = ysuite::spsc::bounded::<Message>(1_024);
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn mpsc() {
    // recipe: mpsc
    let (mut tx, mut rx) = ysuite::mpsc::unbounded::<Message>(); // tx.clone() for each thread
    // end
    tx.clone().send(1).unwrap();
    tx.send(2).unwrap();
    assert_eq!(rx.recv().map(|first| first < 3), Ok(true));
}

pub(crate) fn mpsc_bounded() {
    // recipe: mpsc-bounded
    let (mut tx, mut rx) = ysuite::mpsc::bounded::<Message>(1_024); // room for each sender; tx.clone() for each thread
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn mpmc() {
    // recipe: mpmc
    let (tx, rx) = ysuite::mpmc::unbounded::<Message>(); // clone either for each thread
    // end
    tx.clone().send(1).unwrap();
    assert_eq!(rx.clone().recv(), Ok(1));
}

pub(crate) fn mpmc_bounded() {
    // recipe: mpmc-bounded
    let (tx, rx) = ysuite::mpmc::bounded::<Message>(1_024); // clone either for each thread
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn broadcast() {
    // recipe: broadcast
    let (tx, mut rx) = ysuite::broadcast::bounded::<Message>(1_024); // waits for the slowest; lossy(1_024) never waits
    let mut another = rx.clone(); // gets every message too, from here on
    // end
    tx.send(1).unwrap();
    assert_eq!((rx.recv(), another.recv()), (Ok(1), Ok(1)));
}

pub(crate) fn watch() {
    // recipe: watch
    let (tx, mut rx) = ysuite::watch::channel::<Message>(0); // rx.clone() for each reader
    tx.send(1).unwrap(); // replaces the value
    rx.changed().unwrap(); // waits for a new one; borrow() reads it
    // end
    assert_eq!(*rx.borrow(), 1);
}

pub(crate) fn pool() {
    const BYTES: usize = 1 << 16;
    // recipe: pool
    let pool = ysuite::pool::Pool::new(&[(BYTES, 16)]).unwrap(); // 16 blocks, allocated once
    let mut block = pool.take(BYTES); // waits for a free one; fill it, then tx.send(block)
    // end
    block[0] = 1;
    let (mut tx, mut rx) = ysuite::spsc::bounded(16);
    tx.send(block).unwrap();
    assert_eq!(rx.recv().unwrap()[0], 1);
}

pub(crate) fn pointer() {
    // recipe: pointer
    let (mut tx, mut rx) = ysuite::spsc::unbounded::<Box<[u8]>>(); // a message is the address
    // end
    tx.send(vec![1; 3].into()).unwrap();
    assert_eq!(rx.recv().unwrap().len(), 3);
}

pub(crate) fn forever() {
    let (mut tx, mut rx) = ysuite::spsc::unbounded::<Message>();
    // recipe: forever
    rx.set_spin(ysuite::Spin::Forever); // never sleeps: its thread needs a CPU of its own
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn asleep() {
    let (mut tx, mut rx) = ysuite::spsc::unbounded::<Message>();
    // recipe: none
    rx.set_spin(ysuite::Spin::None); // sleeps at once
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn tasks() {
    let (mut tx, mut rx) = ysuite::spsc::bounded::<Message>(1);
    let task = async {
        // recipe: tasks
        tx.send_async(1).await.unwrap(); // in a task; in a thread: tx.send(1)
        let message = rx.recv_async().await; // in a task; in a thread: rx.recv()
        // end
        assert_eq!(message, Ok(1));
    };
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::pin!(task).poll(&mut context).is_ready());
}

pub(crate) fn epoll() {
    let (mut tx, mut rx) = ysuite::spsc::unbounded::<Message>();
    // recipe: epoll
    use ysuite::signal::{Wait, YSocketpair};
    let mut set = YSocketpair::new().unwrap(); // a descriptor: add it to epoll beside the sockets
    set.attach(&mut rx, 0).unwrap();
    // When it is readable: for each id of set.check(), rx.try_recv() until it is empty.
    // end
    assert!(rx.try_recv().is_err());
    set.check().for_each(drop);
    tx.send(1).unwrap();
    assert!(set.check().any(|id| id == 0));
    assert_eq!(rx.try_recv(), Ok(1));
}

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

pub(crate) fn answers() {
    // recipe: answers
    let (tx, rx) = ysuite::mpmc::bounded::<(Message, ysuite::oneshot::Sender<Message>)>(64); // clone tx for each caller
    let (answer, answered) = ysuite::oneshot::channel(); // for each question
    tx.send((20, answer)).unwrap();
    let (question, answer) = rx.recv().unwrap(); // in the thread that answers
    answer.send(question + 1).unwrap();
    let answer = answered.recv(); // waits for it
    // end
    assert_eq!(answer, Ok(21));
}

/// Both ends here are in one process, which is as good as two for them.
fn unique(kind: &str) -> String {
    format!("ybench-recipe-{kind}-{}", std::process::id())
}

pub(crate) fn shm_pipe() {
    let name = &unique("pipe");
    // recipe: shm-pipe
    let listener = ysuite_shm::Listener::bind(name).unwrap(); // one process: a name that ends with it, or a path
    let to = ysuite_shm::connect(name).unwrap(); // the other process
    let mut tx = ysuite_shm::Sender::<Message>::from_fd(to, 1_024).unwrap();
    let mut rx = ysuite_shm::Receiver::<Message>::from_fd(listener.accept().unwrap()).unwrap(); // the one
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn shm_bytes() {
    let name = &unique("bytes");
    // recipe: shm-bytes
    let listener = ysuite_shm::Listener::bind(name).unwrap(); // one process: a name that ends with it, or a path
    let to = ysuite_shm::connect(name).unwrap(); // the other process
    let mut tx = ysuite_shm::BytesSender::from_fd(to, 65_536).unwrap(); // room for this many bytes
    let mut rx = ysuite_shm::BytesReceiver::from_fd(listener.accept().unwrap()).unwrap(); // the one
    // end
    tx.send(b"message").unwrap();
    let mut message = Vec::new();
    rx.recv_into(&mut message).unwrap();
    assert_eq!(message, b"message");
}

pub(crate) fn shm_funnel() {
    let name = &unique("funnel");
    // recipe: shm-funnel
    let mut rx = ysuite_shm::Funnel::<Message>::bind(name).unwrap(); // the receiving process
    let to = ysuite_shm::connect(name).unwrap(); // each of the others
    let mut tx = ysuite_shm::Sender::<Message>::from_fd(to, 1_024).unwrap(); // room for each
    // end
    tx.send(1).unwrap();
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn shm_broadcast() {
    let name = &unique("broadcast");
    // recipe: shm-broadcast
    let mut tx = ysuite_shm::BroadcastSender::<Message>::bind(name, 1_024).unwrap(); // the sending process
    let to = ysuite_shm::connect(name).unwrap(); // each of the others
    let mut rx = ysuite_shm::BroadcastReceiver::<Message>::from_fd(to).unwrap(); // gets what is sent from now on
    // end
    tx.serve();
    tx.send(1);
    assert_eq!(rx.recv(), Ok(1));
}

pub(crate) fn shm_watch() {
    let name = &unique("watch");
    // recipe: shm-watch
    let mut tx = ysuite_shm::WatchSender::<Message>::bind(name, 0).unwrap(); // the sending process, and the first value
    let to = ysuite_shm::connect(name).unwrap(); // each of the others
    let mut rx = ysuite_shm::WatchReceiver::<Message>::from_fd(to).unwrap();
    tx.serve(); // lets receivers in, as sending does now and then
    tx.send(1); // replaces the value, and never waits
    let value = rx.recv(); // waits for a new one; latest() is the last one again
    // end
    assert_eq!(value, Ok(1));
}

pub(crate) fn shm_work() {
    let name = &unique("work");
    // recipe: shm-work
    let mut tx = ysuite_shm::WorkSender::<Message>::bind(name, 2).unwrap(); // 2 jobs at a worker, one of them in hand
    let to = ysuite_shm::connect(name).unwrap(); // each worker
    let mut rx = ysuite_shm::WorkReceiver::<Message>::from_fd(to).unwrap();
    tx.send(1).unwrap(); // waits for a worker that is free; settle() waits until all is done
    let job = rx.recv().unwrap();
    job.finish(); // without it another worker gets the job
    // end
    tx.settle().unwrap();
    assert_eq!((tx.finished(), tx.unfinished()), (1, 0));
}

pub(crate) fn shm_call() {
    let name = &unique("call");
    let answering = std::thread::spawn({
        let mut rx = ysuite_shm::Funnel::<ysuite_shm::Question<Message, Message>>::bind(name).unwrap();
        move || rx.recv().unwrap().answer(21)
    });
    // recipe: shm-call
    // The process that answers: Funnel::<Question<Message, Message>>::bind(name), then recv()?.answer(..)
    let to = ysuite_shm::connect(name).unwrap(); // each caller
    let mut caller = ysuite_shm::Caller::<Message, Message>::from_fd(to).unwrap();
    let answer = caller.call(20); // waits for it; ask() and recv() for several at a time
    // end
    assert_eq!(answer, Ok(21));
    answering.join().unwrap();
}

pub(crate) fn shm_loan() {
    const BYTES: usize = 1 << 16;
    let name = &unique("loan");
    // recipe: shm-loan
    let mut tx = ysuite_shm::LoanSender::bind(name, 16, BYTES).unwrap(); // the sending process: 16 blocks, allocated once
    let to = ysuite_shm::connect(name).unwrap(); // each of the others
    let mut rx = ysuite_shm::LoanReceiver::from_fd(to).unwrap();
    tx.serve();
    let mut block = tx.loan(BYTES).unwrap(); // waits for a free one
    block.fill(1);
    block.send().unwrap();
    let message = rx.recv().unwrap(); // read in place, by all; the block is free when the last one drops it
    // end
    assert_eq!(message.read::<u8>(BYTES - 1), Some(1));
}

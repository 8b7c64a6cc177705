//! Ends in the event loops of tokio and mio.

#[cfg(feature = "tokio")]
mod in_tokio {
    use ysuite_shm::{
        Async, BroadcastError, BroadcastReceiver, BroadcastSender, Bytes, BytesWorkSender, CallError, Caller, Error,
        Funnel, LoanReceiver, LoanSender, Options, Question, Sender, WatchReceiver, WatchSender, WorkReceiver,
        WorkSender, connect, pipe, pipe_bytes,
    };

    fn run(program: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(program);
    }

    #[test]
    fn a_stream_of_one_task_to_another() {
        run(async {
            let (sender, receiver) = pipe::<u64>(4).unwrap();
            let (mut sender, mut receiver) = (Async::new(sender).unwrap(), Async::new(receiver).unwrap());
            let sending = tokio::spawn(async move {
                for message in 0..5_000 {
                    sender.send(message).await.unwrap();
                }
            });
            for message in 0..5_000 {
                assert_eq!(receiver.recv().await, Ok(message));
            }
            assert_eq!(receiver.recv().await, Err(Error::Closed));
            sending.await.unwrap();
        });
    }

    #[test]
    fn a_watch_of_tasks() {
        run(async {
            let name = format!("test-{}-tokio-watch", std::process::id());
            let mut sender = Async::new(WatchSender::bind(&name, 0_u64).unwrap()).unwrap();
            let receiving: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                    let mut receiver = Async::new(receiver).unwrap();
                    tokio::spawn(async move {
                        let mut last = 0;
                        while let Ok(value) = receiver.recv().await {
                            last = value;
                        }
                        last
                    })
                })
                .collect();
            while sender.get_mut().receivers() < 3 {
                sender.serve().await;
            }
            for value in 0..2_000 {
                sender.get_mut().send(value);
                tokio::task::yield_now().await;
            }
            drop(sender);
            for last in receiving {
                assert_eq!(last.await.unwrap(), 1_999);
            }
        });
    }

    #[test]
    fn a_broadcast_of_tasks() {
        run(async {
            let name = format!("test-{}-tokio-broadcast", std::process::id());
            let mut sender = Async::new(BroadcastSender::<u64>::bind(&name, 4).unwrap()).unwrap();
            let receiving: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                    let mut receiver = Async::new(receiver).unwrap();
                    tokio::spawn(async move {
                        for message in 0..1_000 {
                            assert_eq!(receiver.recv().await, Ok(message));
                        }
                        receiver.recv().await
                    })
                })
                .collect();
            while sender.get_mut().receivers() < 3 {
                sender.serve().await;
            }
            for message in 0..1_000 {
                sender.send(message).await;
            }
            drop(sender);
            for end in receiving {
                assert_eq!(end.await.unwrap(), Err(BroadcastError::Ended(Error::Closed)));
            }
        });
    }

    #[test]
    fn loans_of_tasks() {
        run(async {
            let name = format!("test-{}-tokio-loan", std::process::id());
            let mut sender = Async::new(LoanSender::bind(&name, 2, 100).unwrap()).unwrap();
            let receiving: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = LoanReceiver::from_fd(connect(&name).unwrap()).unwrap();
                    let mut receiver = Async::new(receiver).unwrap();
                    tokio::spawn(async move {
                        for message in 0..1_000_u32 {
                            let borrowed = receiver.recv().await.unwrap();
                            assert_eq!(borrowed.as_slice().is_some(), message % 20 == 0);
                            // It has this one while others go on.
                            tokio::task::yield_now().await;
                            assert_eq!(borrowed.read(0), Some(message));
                        }
                        receiver.recv().await.unwrap_err()
                    })
                })
                .collect();
            while sender.get_mut().receivers() < 3 {
                sender.serve().await;
            }
            for message in 0..1_000_u32 {
                let mut loan = if message % 20 == 0 { sender.large(100).await } else { sender.loan(4).await }.unwrap();
                loan.write(0, &message);
                loan.send().unwrap();
            }
            drop(sender);
            for end in receiving {
                assert_eq!(end.await.unwrap(), Error::Closed);
            }
        });
    }

    #[test]
    fn a_work_queue_of_tasks() {
        run(async {
            let name = format!("test-{}-tokio-work", std::process::id());
            let mut sender = Async::new(WorkSender::<u64>::bind(&name, 2).unwrap()).unwrap();
            let working: Vec<_> = (0..3)
                .map(|number| {
                    let worker = WorkReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
                    let mut worker = Async::new(worker).unwrap();
                    tokio::spawn(async move {
                        let (mut sum, mut turns) = (0, 0);
                        while let Ok(job) = worker.recv().await {
                            turns += 1;
                            // It has this one in hand while others work.
                            tokio::task::yield_now().await;
                            if number > 0 || turns % 5 > 0 {
                                sum += *job;
                                job.finish();
                            }
                        }
                        sum
                    })
                })
                .collect();
            for job in 0..2_000 {
                sender.send(job).await.unwrap();
            }
            sender.settle().await.unwrap();
            assert_eq!(sender.get_mut().finished(), 2_000);
            drop(sender);
            let mut sum = 0;
            for worker in working {
                sum += worker.await.unwrap();
            }
            assert_eq!(sum, 1_999_000);
        });
    }

    #[test]
    fn calls_of_tasks() {
        run(async {
            let mut funnel = Async::new(Funnel::<Question<u64, u64>>::without_name().unwrap()).unwrap();
            let calling: Vec<_> = (0..3)
                .map(|_| {
                    let (_, seat) = funnel.get_mut().seat().unwrap();
                    let mut caller = Async::new(Caller::<u64, u64>::from_fd(seat).unwrap()).unwrap();
                    tokio::spawn(async move {
                        for turn in 0..400 {
                            let pending = [caller.ask(turn).await.unwrap(), caller.ask(turn + 1).await.unwrap()];
                            let expected = if turn % 5 == 0 { Err(CallError::Unanswered) } else { Ok(2 * turn) };
                            assert_eq!(caller.call(turn).await, expected);
                            // One is given up before it is waited for, and one while it is.
                            let [first, second] = pending;
                            drop(first);
                            let limit = std::time::Duration::from_micros(turn % 3);
                            _ = tokio::time::timeout(limit, caller.recv(second)).await;
                        }
                    })
                })
                .collect();
            // Each is answered by a task of its own.
            while let Ok(question) = funnel.recv().await {
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    if *question % 5 > 0 {
                        let answer = 2 * *question;
                        question.answer(answer);
                    }
                });
            }
            for caller in calling {
                caller.await.unwrap();
            }
        });
    }

    #[test]
    fn calls_and_jobs_of_bytes() {
        run(async {
            let mut funnel = Async::new(Funnel::<Question<Bytes, Bytes>>::without_name().unwrap()).unwrap();
            let caller =
                Options::new().calls(1).bytes_caller::<Bytes>(funnel.get_mut().seat().unwrap().1, 100).unwrap();
            let mut caller = Async::new(caller).unwrap();
            let mut sender = Async::new(BytesWorkSender::without_name(2, 100).unwrap()).unwrap();
            let worker = WorkReceiver::<Bytes>::from_fd(sender.get_mut().seat().unwrap()).unwrap();
            let mut worker = Async::new(worker).unwrap();
            // Each question becomes a job, and its answer says how long it was.
            let answering = tokio::spawn(async move {
                while let Ok(question) = funnel.recv().await {
                    sender.send(&question.0).await.unwrap();
                    let length = question.0.len();
                    question.answer(length.to_string().as_bytes());
                }
                sender.settle().await.unwrap();
                assert_eq!(sender.get_mut().finished(), 300);
            });
            let working = tokio::spawn(async move {
                let mut lengths = 0;
                while let Ok(job) = worker.recv().await {
                    tokio::task::yield_now().await;
                    lengths += job.0.len();
                    job.finish();
                }
                lengths
            });
            for length in 0..300 {
                let answer = caller.call(&vec![7; length % 101]).await;
                assert_eq!(answer, Ok(Bytes((length % 101).to_string().into())));
            }
            drop(caller);
            answering.await.unwrap();
            assert_eq!(working.await.unwrap(), (0..300).map(|length| length % 101).sum::<usize>());
        });
    }

    #[test]
    fn tasks_and_threads_meet() {
        run(async {
            let (mut sender, receiver) = pipe_bytes(100).unwrap();
            let mut receiver = Async::new(receiver).unwrap();
            let sending =
                std::thread::spawn(move || (0..500).for_each(|length| sender.send(&vec![1; length % 90]).unwrap()));
            for length in 0..500 {
                assert_eq!(receiver.recv().await.unwrap().len(), length % 90);
            }
            sending.join().unwrap();
            let mut funnel = Async::new(Funnel::<u64>::without_name().unwrap()).unwrap();
            let senders: Vec<_> = (0..3)
                .map(|_| {
                    let (_, seat) = funnel.get_mut().seat().unwrap();
                    std::thread::spawn(move || {
                        let mut sender = Sender::<u64>::from_fd(seat, 4).unwrap();
                        (0..300).for_each(|message| sender.send(message).unwrap());
                    })
                })
                .collect();
            let mut sum = 0;
            while let Ok(message) = funnel.recv().await {
                sum += message;
            }
            assert_eq!(sum, 3 * 44_850);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
        });
    }
}

#[cfg(feature = "mio")]
#[test]
fn mio_waits_for_several_ends() {
    use mio::{Events, Interest, Poll, Token};
    use ysuite_shm::pipe;

    let mut poll = Poll::new().unwrap();
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| pipe::<u64>(4).unwrap()).unzip();
    for (at, receiver) in receivers.iter_mut().enumerate() {
        assert!(receiver.arm());
        poll.registry().register(receiver, Token(at), Interest::READABLE).unwrap();
    }
    let mut events = Events::with_capacity(8);
    for message in 0..200 {
        let at = message as usize % 4;
        senders[at].send(message).unwrap();
        while receivers[at].try_recv().is_err() {
            poll.poll(&mut events, Some(crate::LONG)).unwrap();
            assert!(events.iter().any(|event| event.token() == Token(at)));
        }
        assert!(receivers[at].arm());
    }
    poll.registry().deregister(&mut receivers[0]).unwrap();
}

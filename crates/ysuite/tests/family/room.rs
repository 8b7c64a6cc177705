//! Room and order: permits, batches, displacement.

row! { one_order "one order over all senders (`mpmc`)"
    ysuite {
        let (one, receiver) = ysuite::mpmc::unbounded();
        alternately((&one, &one.clone()), |sender, number| sender.send(number).unwrap(), || receiver.recv().unwrap());
    }
    crossbeam {
        let (one, receiver) = crossbeam_channel::unbounded();
        alternately((&one, &one.clone()), |sender, number| sender.send(number).unwrap(), || receiver.recv().unwrap());
    }
    std {
        let (one, receiver) = std::sync::mpsc::channel();
        alternately((&one, &one.clone()), |sender, number| sender.send(number).unwrap(), || receiver.recv().unwrap());
    }
    tokio {
        let (one, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let send = |sender: &tokio::sync::mpsc::UnboundedSender<u32>, number| sender.send(number).unwrap();
        alternately((&one, &one.clone()), send, || receiver.blocking_recv().unwrap());
    }
    flume {
        let (one, receiver) = flume::unbounded();
        alternately((&one, &one.clone()), |sender, number| sender.send(number).unwrap(), || receiver.recv().unwrap());
    }
    kanal {
        let (one, receiver) = kanal::unbounded();
        alternately((&one, &one.clone()), |sender, number| sender.send(number).unwrap(), || receiver.recv().unwrap());
    }
    async_channel {
        let (one, receiver) = async_channel::unbounded();
        let send = |sender: &async_channel::Sender<u32>, number| sender.send_blocking(number).unwrap();
        alternately((&one, &one.clone()), send, || receiver.recv_blocking().unwrap());
    }
}

/// What the two senders send in turns comes in the order of sending.
fn alternately<S>(senders: (&S, &S), send: impl Fn(&S, u32), mut receive: impl FnMut() -> u32) {
    for number in 0..1_000 {
        send(if number % 3 == 0 { senders.0 } else { senders.1 }, number);
    }
    (0..1_000).for_each(|number| assert_eq!(receive(), number));
}

row! { permits "permits"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::bounded(1);
        let permit = sender.reserve().unwrap();
        assert!(sender.try_send(0).is_err());
        permit.send(1).unwrap();
        assert_eq!(receiver.recv().unwrap(), 1);
        drop(sender.try_reserve().unwrap());
        sender.try_send(2).unwrap();
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let permit = crate::in_tokio(sender.reserve()).unwrap();
        assert!(sender.try_send(0).is_err());
        permit.send(1);
        assert_eq!(receiver.blocking_recv().unwrap(), 1);
        drop(sender.try_reserve().unwrap());
        sender.try_send(2).unwrap();
    }
}

row! { force_send "`force_send` displaces the oldest (`mpmc`)"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::bounded(1);
        sender.send(1).unwrap();
        assert_eq!(sender.force_send(2).unwrap(), Some(1));
        assert_eq!(receiver.recv().unwrap(), 2);
    }
    async_channel {
        let (sender, receiver) = async_channel::bounded(1);
        sender.send_blocking(1).unwrap();
        assert_eq!(sender.force_send(2).unwrap(), Some(1));
        assert_eq!(receiver.recv_blocking().unwrap(), 2);
    }
}

row! { batches_sent "batches sent by one call"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded();
        assert_eq!(sender.send_batch(0..3).unwrap(), 3);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}

row! { batches_received "batches received by one call"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded();
        (0..3).for_each(|number| sender.send(number).unwrap());
        let mut got = Vec::new();
        assert_eq!(receiver.recv_batch(&mut got, 8).unwrap(), 3);
        assert_eq!(got, [0, 1, 2]);
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        (0..3).for_each(|number| sender.send(number).unwrap());
        let mut got = Vec::new();
        assert_eq!(receiver.blocking_recv_many(&mut got, 8), 3);
        assert_eq!(got, [0, 1, 2]);
    }
    flume {
        let (sender, receiver) = flume::unbounded();
        (0..3).for_each(|number| sender.send(number).unwrap());
        assert_eq!(receiver.drain().collect::<Vec<_>>(), [0, 1, 2]);
    }
    kanal {
        let (sender, receiver) = kanal::unbounded();
        (0..3).for_each(|number| sender.send(number).unwrap());
        let mut got = Vec::new();
        assert_eq!(receiver.drain_into(&mut got).unwrap(), 3);
        assert_eq!(got, [0, 1, 2]);
    }
}

row! { statistics "statistics, a feature"
    ysuite {
        // Built without it there is nothing to try; the portable build is tested with every feature.
        #[cfg(feature = "statistics")]
        {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            sender.send(1).unwrap();
            receiver.recv().unwrap();
            let found = receiver.observer().statistics();
            assert_eq!((found.sent, found.received), (1, 1));
        }
    }
}

//! Room and order: permits, batches, displacement, priority, messages read in place.

/// What the two senders send in turns comes in the order of sending.
fn alternately<S>(senders: (&S, &S), send: impl Fn(&S, u32), mut receive: impl FnMut() -> u32) {
    for number in 0..1_000 {
        send(if number % 3 == 0 { senders.0 } else { senders.1 }, number);
    }
    (0..1_000).for_each(|number| assert_eq!(receive(), number));
}

macro_rules! in_turns {
    ($channel:expr, $send:ident, $recv:ident) => {{
        #[allow(unused_mut)]
        let (one, mut receiver) = $channel;
        alternately((&one, &one.clone()), |sender, number| sender.$send(number).unwrap(), || receiver.$recv().unwrap());
    }};
}

macro_rules! reserved {
    ($channel:expr) => {{
        let (mut sender, mut receiver) = $channel;
        let permit = sender.reserve().unwrap();
        permit.send(1).unwrap();
        assert!(sender.try_reserve().is_err());
        assert_eq!(receiver.recv().unwrap(), 1);
    }};
}

/// Room that no other send takes, and that is given back unused.
macro_rules! reserved_among_others {
    ($channel:expr) => {{
        #[allow(unused_mut)]
        let (sender, mut receiver) = $channel;
        let permit = sender.reserve().unwrap();
        assert!(sender.try_send(0).is_err());
        permit.send(1).unwrap();
        assert_eq!(receiver.recv().unwrap(), 1);
        drop(sender.try_reserve().unwrap());
        sender.try_send(2).unwrap();
    }};
}

macro_rules! read_in_place {
    ($channel:expr) => {{
        let (mut sender, mut receiver) = $channel;
        sender.send(1).unwrap();
        assert_eq!((receiver.peek().copied(), receiver.recv()), (Some(1), Ok(1)));
    }};
}

tried! {
    one_order OneOrder {
        mpmc "ysuite::mpmc" { in_turns!(ysuite::mpmc::unbounded(), send, recv); }
        crossbeam "crossbeam-channel" { in_turns!(crossbeam_channel::unbounded(), send, recv); }
        std "std::sync::mpsc" { in_turns!(std::sync::mpsc::channel(), send, recv); }
        tokio "tokio::sync::mpsc" { in_turns!(tokio::sync::mpsc::unbounded_channel(), send, blocking_recv); }
        flume "flume" { in_turns!(flume::unbounded(), send, recv); }
        kanal "kanal" { in_turns!(kanal::unbounded(), send, recv); }
        async_channel "async-channel" { in_turns!(async_channel::unbounded(), send_blocking, recv_blocking); }
    }
    priority Priority {
        mailbox "ysuite::mailbox" {
            let mut mailbox = ysuite::mailbox::Mailbox::new();
            let address = mailbox.address();
            address.send(1_u8).unwrap();
            address.send_priority(2_u8).unwrap();
            assert_eq!((mailbox.receive(), mailbox.receive()), (Ok(2_u8), Ok(1_u8)));
        }
    }
    batches_sent Batches {
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            assert_eq!(sender.send_batch(0..3).unwrap(), 3);
            assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
        }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(4);
            assert_eq!(sender.send_batch(0..3).unwrap(), 3);
            assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
        }
    }
    batches_received BatchesReceived {
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            (0..3).for_each(|number| sender.send(number).unwrap());
            let mut got = Vec::new();
            assert_eq!(receiver.recv_batch(&mut got, 8).unwrap(), 3);
            assert_eq!(got, [0, 1, 2]);
        }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(4);
            (0..3).for_each(|number| sender.send(number).unwrap());
            let mut got = Vec::new();
            assert_eq!(receiver.recv_batch(&mut got, 8).unwrap(), 3);
            assert_eq!(got, [0, 1, 2]);
        }
        tokio "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            (0..3).for_each(|number| sender.send(number).unwrap());
            let mut got = Vec::new();
            assert_eq!(receiver.blocking_recv_many(&mut got, 8), 3);
            assert_eq!(got, [0, 1, 2]);
        }
        flume "flume" {
            let (sender, receiver) = flume::unbounded();
            (0..3).for_each(|number| sender.send(number).unwrap());
            assert_eq!(receiver.drain().collect::<Vec<_>>(), [0, 1, 2]);
        }
        kanal "kanal" {
            let (sender, receiver) = kanal::unbounded();
            (0..3).for_each(|number| sender.send(number).unwrap());
            let mut got = Vec::new();
            assert_eq!(receiver.drain_into(&mut got).unwrap(), 3);
            assert_eq!(got, [0, 1, 2]);
        }
    }
    in_place InPlace {
        spsc "ysuite::spsc" { read_in_place!(ysuite::spsc::unbounded()); }
        mpsc "ysuite::mpsc" { read_in_place!(ysuite::mpsc::unbounded()); }
    }
    permits Permits {
        spsc "ysuite::spsc" { reserved!(ysuite::spsc::bounded(1)); }
        mpsc "ysuite::mpsc" { reserved!(ysuite::mpsc::bounded(1)); }
        mpmc "ysuite::mpmc" { reserved_among_others!(ysuite::mpmc::bounded(1)); }
        broadcast "ysuite::broadcast" { reserved_among_others!(ysuite::broadcast::bounded(1)); }
        tokio "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let permit = crate::in_tokio(sender.reserve()).unwrap();
            assert!(sender.try_send(0).is_err());
            permit.send(1);
            assert_eq!(receiver.blocking_recv().unwrap(), 1);
            drop(sender.try_reserve().unwrap());
            sender.try_send(2).unwrap();
        }
    }
    force_send ForceSend {
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::bounded(1);
            sender.send(1).unwrap();
            assert_eq!(sender.force_send(2).unwrap(), Some(1));
            assert_eq!(receiver.recv().unwrap(), 2);
        }
        async_channel "async-channel" {
            let (sender, receiver) = async_channel::bounded(1);
            sender.send_blocking(1).unwrap();
            assert_eq!(sender.force_send(2).unwrap(), Some(1));
            assert_eq!(receiver.recv_blocking().unwrap(), 2);
        }
    }
    statistics Statistics {
        mpmc "ysuite::mpmc" {
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
}

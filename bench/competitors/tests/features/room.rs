//! Priorities, messages read in place, and reserved room.

use ringbuf::traits::{Consumer, Observer, Producer, Split};

tried! {
    priority Priority {
        mailbox "ysuite::mailbox" {
            let mut mailbox = ysuite::mailbox::Mailbox::new();
            let address = mailbox.address();
            address.send(1_u8).unwrap();
            address.send_priority(2_u8).unwrap();
            assert_eq!((mailbox.receive(), mailbox.receive()), (Ok(2_u8), Ok(1_u8)));
        }
    }
    in_place InPlace {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::unbounded();
            sender.send(1).unwrap();
            assert_eq!((receiver.peek().copied(), receiver.recv()), (Some(1), Ok(1)));
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::unbounded();
            sender.send(1).unwrap();
            assert_eq!((receiver.peek().copied(), receiver.recv()), (Some(1), Ok(1)));
        }
        gil "gil" {
            let (mut sender, mut receiver) = gil::spsc::channel(std::num::NonZeroUsize::new(4).unwrap());
            sender.send(1);
            assert_eq!(receiver.read_guard().as_slice(), [1]);
            assert_eq!(receiver.recv(), 1);
        }
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::blocking::channel(2);
            sender.send(1).unwrap();
            assert_eq!(*receiver.recv_ref().unwrap(), 1);
        }
        rtrb "rtrb" {
            let (mut sender, mut receiver) = rtrb::RingBuffer::new(2);
            sender.push(1).unwrap();
            assert_eq!((receiver.peek().copied(), receiver.pop()), (Ok(1), Ok(1)));
        }
        ringbuf "ringbuf" {
            let (mut sender, mut receiver) = ringbuf::HeapRb::new(2).split();
            sender.try_push(1).unwrap();
            assert_eq!((receiver.as_slices().0, receiver.occupied_len()), (&[1][..], 1));
            assert_eq!(receiver.try_pop(), Some(1));
        }
    }
    reserve Reserve {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::bounded(1);
            let permit = sender.reserve().unwrap();
            permit.send(1).unwrap();
            assert!(sender.try_reserve().is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::bounded(1);
            let permit = sender.reserve().unwrap();
            permit.send(1).unwrap();
            assert!(sender.try_reserve().is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
        }
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::bounded(1);
            let permit = sender.reserve().unwrap();
            assert!(sender.try_send(2).is_err());
            permit.send(1).unwrap();
            assert_eq!(receiver.recv().unwrap(), 1);
        }
        tokios "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let permit = sender.try_reserve().unwrap();
            assert!(sender.try_send(2).is_err());
            permit.send(1);
            assert_eq!(receiver.blocking_recv(), Some(1));
        }
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::blocking::channel(1);
            let mut place = sender.send_ref().unwrap();
            assert!(sender.try_send(2).is_err());
            *place = 1;
            drop(place);
            assert_eq!(receiver.recv(), Some(1));
        }
        rtrb "rtrb" {
            let (mut sender, mut receiver) = rtrb::RingBuffer::new(2);
            let room = sender.write_chunk_uninit(2).unwrap();
            assert_eq!(room.fill_from_iter([1, 2]), 2);
            assert_eq!((receiver.pop(), receiver.pop()), (Ok(1), Ok(2)));
        }
    }
    limits Timeouts {
        mailbox "ysuite::mailbox" {
            let mut mailbox = ysuite::mailbox::Mailbox::new();
            let address = mailbox.address();
            assert!(mailbox.receive_timeout::<u8>(crate::SOON).is_err());
            address.send(1_u8).unwrap();
            assert_eq!(mailbox.receive_timeout(crate::SOON), Ok(1_u8));
        }
    }
}

//! The mailbox, and the hub with its posted functions.

use std::hint::black_box;
use std::time::Duration;

use ysuite::hub::Hub;
use ysuite::mailbox::{Builder, Crowding, Mailbox};

use crate::{BURST, CAPACITY, operations};

operations! {
    send_and_receive(messages) {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        for message in 0..messages {
            address.send(message).unwrap();
            black_box(mailbox.receive::<u64>().unwrap());
        }
    }
    send_and_receive_in_bursts(messages) {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        for _ in 0..messages / BURST {
            (0..BURST).for_each(|message| address.send(message).unwrap());
            for _ in 0..BURST {
                black_box(mailbox.receive::<u64>().unwrap());
            }
        }
    }
    send_priority_and_receive(messages) {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        for message in 0..messages {
            address.send_priority(message).unwrap();
            black_box(mailbox.receive::<u64>().unwrap());
        }
    }
    send_and_receive_of_a_large_message(messages) {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        for message in 0..messages {
            address.send([message; 8]).unwrap();
            black_box(mailbox.receive::<[u64; 8]>().unwrap());
        }
    }
    send_and_receive_under_a_bound(messages) {
        let mut mailbox = Builder::new().bounded(CAPACITY, Crowding::Block).build();
        let address = mailbox.address();
        for message in 0..messages {
            address.send(message).unwrap();
            black_box(mailbox.receive::<u64>().unwrap());
        }
    }
    receive_of_nothing(messages) {
        let mut mailbox = Mailbox::new();
        let _address = mailbox.address();
        for _ in 0..messages {
            black_box(mailbox.receive_timeout::<u64>(Duration::ZERO)).unwrap_err();
        }
    }
    hub_post_and_run(messages) {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        for message in 0..messages {
            handle.post(move |_: &mut Hub| _ = black_box(message)).unwrap();
            hub.run_once(Duration::ZERO).unwrap();
        }
    }
    hub_post_and_run_in_bursts(messages) {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        for _ in 0..messages / BURST {
            for message in 0..BURST {
                handle.post(move |_: &mut Hub| _ = black_box(message)).unwrap();
            }
            let mut run = 0;
            while run < BURST as usize {
                run += hub.run_once(Duration::ZERO).unwrap();
            }
        }
    }
    hub_timer_set_and_cancelled(messages) {
        let mut hub = Hub::new().unwrap();
        for _ in 0..messages {
            let timer = hub.after(Duration::from_secs(3_600), |_| ());
            assert!(hub.cancel(timer));
        }
    }
}

//! Mistakes with blocks of pools, and with handles that are mistaken for others: a mistake that a build notices ends
//! the process with a sentence.

mod support;

use core::ffi::c_void;
use core::ptr::null_mut;

use support::*;
use ysuite_c::*;

fn pool() -> *mut ys_pool {
    let (mut pool, classes) =
        (null_mut(), [ys_pool_class { bytes: 64, blocks: 4 }, ys_pool_class { bytes: 256, blocks: 4 }]);
    // SAFETY: classes, and a place for a pool.
    assert_eq!(unsafe { ys_pool_open(classes.as_ptr(), classes.len(), &mut pool) }, OK);
    pool
}

fn take(pool: *mut ys_pool, len: usize) -> *mut c_void {
    // SAFETY: a pool that was opened.
    let message = unsafe { ys_pool_take(pool, len, 0) };
    assert!(!message.is_null());
    message
}

/// Memory that is no block, and does not resemble one: memory that can be read in front of it.
#[repr(align(64))]
struct Elsewhere([u8; 256]);

/// Runs only as a child of the tests below.
fn mistake(name: &str) {
    let (pool, elsewhere) = (pool(), Elsewhere([0x11; 256]));
    let message = take(pool, 10);
    let foreign = elsewhere.0[128..].as_ptr().cast_mut().cast::<c_void>();
    // SAFETY: each build finds what is wrong; nothing is used after it.
    unsafe {
        match name {
            "free twice" => {
                ys_msg_free(message);
                ys_msg_free(message);
            }
            "len of a freed one" => {
                ys_msg_free(message);
                ys_msg_len(message);
            }
            "capacity of a freed one" => {
                ys_msg_free(message);
                ys_msg_capacity(message);
            }
            "resize of a freed one" => {
                ys_msg_free(message);
                ys_msg_resize(message, 4);
            }
            "free of no block" => ys_msg_free(foreign),
            "len of no block" => drop(ys_msg_len(foreign)),
            "free of the middle" => ys_msg_free(message.cast::<u8>().add(3).cast()),
            "overrun" => {
                message.cast::<u8>().write_bytes(7, ys_msg_capacity(message) + 1);
                ys_msg_free(message);
            }
            "overrun, seen by a check" => {
                let long = take(pool, 200);
                long.cast::<u8>().add(ys_msg_capacity(long) + 63).write(7);
                ys_msg_len(long);
            }
            _ => {
                let (tx, _rx) = opened(ys_pipe_open, &options(12, 4, 0));
                ys_tx_expect(tx, 16, 8);
            }
        }
    }
}

const CHILD: &str = "YSUITE_C_MISTAKE";

/// Each ends the process with this sentence, whose addresses are left out.
fn end_the_process(test: &str, sentences: &[(&str, &str)]) {
    for (name, sentence) in sentences {
        let child = std::process::Command::new(std::env::current_exe().expect("this is a program"))
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, name)
            .output()
            .expect("a child runs");
        #[cfg(unix)]
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.status), Some(libc::SIGABRT), "{name}");
        let said = String::from_utf8_lossy(&child.stderr);
        let said: Vec<&str> = said.split(' ').map(|word| if word.starts_with("0x") { "0x," } else { word }).collect();
        assert_eq!(said.join(" "), *sentence, "{name}");
    }
}

/// As long as the block was not taken again.
#[test]
fn a_second_free_of_a_block_is_noticed_in_every_build() {
    if let Ok(name) = std::env::var(CHILD) {
        return mistake(&name);
    }
    let what = if cfg!(feature = "checked") {
        "which was freed before"
    } else {
        "which is no message of a pool, or was freed before"
    };
    let said = |function: &str| format!("ysuite: {function} was called for 0x, {what}.\n");
    let cases = [
        ("free twice", said("ys_msg_free")),
        ("len of a freed one", said("ys_msg_len")),
        ("capacity of a freed one", said("ys_msg_capacity")),
        ("resize of a freed one", said("ys_msg_resize")),
    ];
    end_the_process(
        "a_second_free_of_a_block_is_noticed_in_every_build",
        &cases.each_ref().map(|(name, sentence)| (*name, sentence.as_str())),
    );
}

#[test]
fn what_is_no_block_is_noticed() {
    if let Ok(name) = std::env::var(CHILD) {
        return mistake(&name);
    }
    let what = if cfg!(feature = "checked") {
        "which is no message of a pool"
    } else {
        "which is no message of a pool, or was freed before"
    };
    let said = |function: &str| format!("ysuite: {function} was called for 0x, {what}.\n");
    let cases = [
        ("free of no block", said("ys_msg_free")),
        ("len of no block", said("ys_msg_len")),
        ("free of the middle", said("ys_msg_free")),
    ];
    end_the_process(
        "what_is_no_block_is_noticed",
        &cases.each_ref().map(|(name, sentence)| (*name, sentence.as_str())),
    );
}

#[cfg(feature = "checked")]
#[test]
fn the_checked_build_finds_overruns_and_handles_of_other_messages() {
    if let Ok(name) = std::env::var(CHILD) {
        return mistake(&name);
    }
    let sentences = [
        ("overrun", "ysuite: ys_msg_free was called for 0x, after whose block bytes were written.\n"),
        ("overrun, seen by a check", "ysuite: ys_msg_len was called for 0x, after whose block bytes were written.\n"),
        (
            "size",
            "ysuite: ys_tx_expect was called for messages of 16 bytes aligned to 8; those of the channel have 12 bytes aligned to 4.\n",
        ),
    ];
    end_the_process("the_checked_build_finds_overruns_and_handles_of_other_messages", &sentences);
}

/// A block that was taken again belongs to its new owner; in any order of frees each block is recognised.
#[test]
fn what_is_no_mistake_is_none() {
    // SAFETY: handles that are opened here.
    unsafe {
        let pool = pool();
        for round in 0..100 {
            let messages: Vec<_> = (0..4).map(|at| take(pool, 1 + 21 * at + round % 64)).collect();
            for (at, message) in messages.iter().enumerate() {
                assert_eq!(ys_msg_len(*message), 1 + 21 * at + round % 64);
                // To the last byte.
                message.cast::<u8>().write_bytes(0xA5, ys_msg_capacity(*message));
                assert_eq!(ys_msg_resize(*message, ys_msg_capacity(*message)), OK);
                assert_eq!(ys_msg_resize(*message, ys_msg_capacity(*message) + 1), ETOOMANY);
                assert_eq!(message.addr() % 16, 0);
            }
            messages.into_iter().rev().for_each(|message| ys_msg_free(message));
        }
        assert!(ys_pool_take(pool, 257, 0).is_null());
        assert_eq!(errno::errno().0, libc::EMSGSIZE);
        let last = take(pool, 256);
        assert_eq!(ys_msg_capacity(last), 256);
        ys_pool_free(pool);
        ys_msg_free(last);
    }
}

#[test]
fn an_end_knows_its_messages() {
    for open in KINDS {
        for (size, align, alignment) in [(1, 1, 1), (8, 0, 8), (12, 4, 4), (24, 16, 16), (128, 8, 8)] {
            let (tx, rx) = opened(open, &options(size, align, 0));
            // SAFETY: handles that were opened.
            unsafe {
                assert_eq!((ys_tx_message_size(tx), ys_rx_message_size(rx)), (size, size));
                assert_eq!((ys_tx_message_align(tx), ys_rx_message_align(rx)), (alignment, alignment));
                assert_eq!((ys_tx_expect(tx, size, alignment), ys_rx_expect(rx, size, alignment)), (OK, OK));
                // Slots are aligned to 8 at least.
                assert_eq!((ys_tx_expect(tx, size, 8), ys_rx_expect(rx, size, 1)), (OK, OK));
                #[cfg(not(feature = "checked"))]
                for (other, to) in [(size + 1, alignment), (size, 32), (size, 3), (0, 1), (size, 0)] {
                    assert_eq!((ys_tx_expect(tx, other, to), ys_rx_expect(rx, other, to)), (EINVAL, EINVAL));
                }
                assert!(ys_tx_message_size(core::ptr::null()) == 0 && errno::errno().0 == libc::EINVAL);
                assert_eq!(ys_rx_expect(core::ptr::null(), size, alignment), EINVAL);
            }
            free(tx, rx);
        }
    }
}

#[test]
fn a_bound_that_was_less_than_0_is_refused() {
    for open in [ys_pipe_open, ys_funnel_open, ys_exchange_open] {
        for capacity in [-1_isize as usize, isize::MIN as usize] {
            let (mut tx, mut rx) = (null_mut(), null_mut());
            // SAFETY: options, and places for handles.
            assert_eq!(unsafe { open(&options(4, 4, capacity), &mut tx, &mut rx) }, EINVAL);
            assert!(tx.is_null() && rx.is_null());
        }
    }
}

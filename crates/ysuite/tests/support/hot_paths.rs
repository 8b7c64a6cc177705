//! The way of one message through each channel, as a user's program has it: compiled by `ci/steps/machines orderings` for another
//! machine, and read there. One message of a word; everything outside these functions is a slow path, or called.

use ysuite::{mpmc, mpsc, spsc};

#[unsafe(no_mangle)]
pub fn pipe_send(sender: &mut spsc::Sender<u64>, message: u64) -> bool {
    sender.send(message).is_ok()
}

#[unsafe(no_mangle)]
pub fn pipe_recv(receiver: &mut spsc::Receiver<u64>) -> Option<u64> {
    receiver.recv().ok()
}

#[unsafe(no_mangle)]
pub fn funnel_send(sender: &mut mpsc::Sender<u64>, message: u64) -> bool {
    sender.send(message).is_ok()
}

#[unsafe(no_mangle)]
pub fn funnel_recv(receiver: &mut mpsc::Receiver<u64>) -> Option<u64> {
    receiver.recv().ok()
}

#[unsafe(no_mangle)]
pub fn exchange_send(sender: &mpmc::Sender<u64>, message: u64) -> bool {
    sender.send(message).is_ok()
}

#[unsafe(no_mangle)]
pub fn exchange_recv(receiver: &mpmc::Receiver<u64>) -> Option<u64> {
    receiver.recv().ok()
}

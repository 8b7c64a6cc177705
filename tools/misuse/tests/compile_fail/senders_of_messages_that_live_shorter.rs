use ysuite::queue::ypipe::Writer;
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

// Otherwise a message that lives shorter could be sent to a receiver that keeps it longer.
fn ypipe<'a>(writer: Writer<&'static str>) -> Writer<&'a str> {
    writer
}

fn spsc<'a>(sender: spsc::Sender<&'static str>) -> spsc::Sender<&'a str> {
    sender
}

fn mpsc<'a>(sender: mpsc::Sender<&'static str>) -> mpsc::Sender<&'a str> {
    sender
}

fn weak<'a>(sender: mpsc::WeakSender<&'static str>) -> mpsc::WeakSender<&'a str> {
    sender
}

fn mpmc<'a>(sender: mpmc::Sender<&'static str>) -> mpmc::Sender<&'a str> {
    sender
}

fn oneshot<'a>(sender: oneshot::Sender<&'static str>) -> oneshot::Sender<&'a str> {
    sender
}

fn broadcast<'a>(sender: broadcast::Sender<&'static str>) -> broadcast::Sender<&'a str> {
    sender
}

fn watch<'a>(sender: watch::Sender<&'static str>) -> watch::Sender<&'a str> {
    sender
}

fn main() {}

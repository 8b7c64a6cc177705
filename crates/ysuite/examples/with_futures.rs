//! A pipeline of streams and sinks, with back-pressure: if one stage is full, the one before it waits. Any runtime will
//! do.
//!
//! `cargo run -p ysuite --features futures --example with_futures`

use futures_util::{StreamExt, stream};
use ysuite::spsc;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (words, words_in) = spsc::bounded(4);
    let (lengths, lengths_in) = spsc::bounded(4);

    let reading = stream::iter("a sink is fed and a stream is drained".split(' ')).map(Ok).forward(words.into_sink());
    let measuring = words_in.map(|word| Ok(word.len())).forward(lengths.into_sink());
    let summing = lengths_in.inspect(|length| println!("{length}")).fold(0, |sum, length| async move { sum + length });

    let (read, measured, sum) = tokio::join!(reading, measuring, summing);
    read.and(measured).expect("every stage lives until the other ends");
    assert_eq!(sum, 29);
}

//! A process in Rust that sends back what it receives, until the other side has closed. Each message comes back with its
//! bytes inverted.
//!
//! ```sh
//! echo NAME
//! ```
//! At the name, the other side accepts the receiver of this process first, and then its sender.

use ysuite_shm::{BytesReceiver, BytesSender, Error, connect};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("echo NAME")?;
    let mut from = BytesReceiver::from_fd(connect(&name)?)?;
    let mut to = BytesSender::from_fd(connect(&name)?, 1 << 20)?;
    let mut message = Vec::new();
    loop {
        message.clear();
        match from.recv_into(&mut message) {
            Ok(_) => message.iter_mut().for_each(|byte| *byte = !*byte),
            Err(Error::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        to.send(&message)?;
    }
}

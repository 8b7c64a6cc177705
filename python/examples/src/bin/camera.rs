//! A camera in Rust, whose frames `viewer.py` reads: 640 by 480 pixels of one byte, behind a head of the frame's number,
//! height and width. It drops frames that the viewer is too slow for.
//!
//! ```sh
//! python python/examples/viewer.py CAMERA
//! ```

use ysuite_shm::{BytesSender, TrySendError, connect};

const HEIGHT: u32 = 480;
const WIDTH: u32 = 640;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (name, last) = (arguments.next().ok_or("camera NAME FRAMES")?, arguments.next().ok_or("camera NAME FRAMES")?);
    let last: u32 = last.parse()?;
    let mut frames = BytesSender::from_fd(connect(&name)?, 4 * (HEIGHT * WIDTH) as usize)?;
    let mut frame = vec![0; 12 + (HEIGHT * WIDTH) as usize];
    for number in 1..=last {
        for (at, value) in [number, HEIGHT, WIDTH].into_iter().enumerate() {
            frame[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        }
        frame[12..].fill(number as u8);
        match frames.try_send(&frame) {
            // The last one must arrive.
            Err(TrySendError::Full(())) if number == last => frames.send(&frame)?,
            Ok(()) | Err(TrySendError::Full(())) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

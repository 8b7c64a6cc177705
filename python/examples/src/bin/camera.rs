//! A camera in Rust, whose frames `viewer.py` sees in the memory where they are filmed: 640 by 480 pixels of one byte, behind
//! a head of the frame's number, height and width. It drops frames that its viewers are too slow for.
//!
//! ```sh
//! python python/examples/viewer.py CAMERA
//! ```

use std::time::Duration;

use ysuite_shm::{LoanError, LoanSender};

const HEIGHT: u32 = 480;
const WIDTH: u32 = 640;
const FRAME: usize = 12 + (HEIGHT * WIDTH) as usize;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (name, last) = (arguments.next().ok_or("camera NAME FRAMES")?, arguments.next().ok_or("camera NAME FRAMES")?);
    let last: u32 = last.parse()?;
    let mut frames = LoanSender::bind(&name, 4, FRAME)?;
    println!("listening");
    while frames.receivers() == 0 {
        frames.serve_timeout(Duration::from_millis(10));
    }
    for number in 1..=last {
        // The last one must arrive.
        let lent = if number == last { frames.loan(FRAME) } else { frames.try_loan(FRAME) };
        let mut frame = match lent {
            Ok(frame) => frame,
            Err(LoanError::Dry) => continue,
            Err(LoanError::Ended(error)) => return Err(error.into()),
        };
        frame.write(0, &[number, HEIGHT, WIDTH].map(u32::to_le_bytes));
        frame[12..].fill(number as u8);
        frame.send()?;
    }
    Ok(())
}

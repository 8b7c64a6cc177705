//! A camera and its viewer: two processes, and frames that the camera fills in place and the viewer reads in place. The viewer
//! is slower than the camera, which then drops frames instead of waiting; and it dies in the middle, with a frame in its
//! hand, which the camera is told.
//!
//! ```sh
//! cargo run -p ysuite-shm --example camera
//! ```

#[cfg(target_os = "linux")]
mod program {
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use ysuite_shm::{Error, LoanError, LoanReceiver, LoanSender};

    const FRAME: usize = 100_000;

    /// The viewer has inherited its end as its standard input.
    pub(crate) fn viewer() -> Result<(), Box<dyn std::error::Error>> {
        let mut frames = LoanReceiver::from_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
        let mut last = 0;
        for seen in 1..=50 {
            let frame = frames.recv()?;
            let mut reader = frame.reader();
            let number = reader.value::<u32>().ok_or("a frame without a number")?;
            let mut line = [0; 1_000];
            let mut pixels = 0;
            while let length @ 1.. = reader.read(&mut line)? {
                assert!(line[..length].iter().all(|pixel| *pixel == number as u8));
                pixels += length;
            }
            assert!(number > last && pixels >= FRAME);
            last = number;
            if seen == 50 {
                println!("viewer: 50 frames seen, each whole; now I crash");
                std::process::abort();
            }
        }
        unreachable!("it crashes")
    }

    fn film(camera: &mut LoanSender) -> Result<(u32, u32, Error), Error> {
        let (mut sent, mut dropped) = (0, 0);
        for number in 1_u32.. {
            // Frames differ in size.
            match camera.try_loan(4 + FRAME + number as usize % 1_000) {
                Ok(mut frame) => {
                    frame.write(0, &number);
                    frame[4..].fill(number as u8);
                    frame.send()?;
                    sent += 1;
                }
                Err(LoanError::Dry) => dropped += 1,
                Err(LoanError::Ended(error)) => return Ok((sent, dropped, error)),
            }
        }
        unreachable!("the viewer ends")
    }

    pub(crate) fn camera() -> Result<(), Box<dyn std::error::Error>> {
        let mut camera = LoanSender::without_name(4, 4 + FRAME + 1_000)?;
        let seat = camera.seat()?;
        let mut viewer = Command::new(std::env::current_exe()?).arg("viewer").stdin(Stdio::from(seat)).spawn()?;
        while camera.receivers() == 0 {
            camera.serve_timeout(Duration::from_millis(1));
        }
        let (sent, dropped, error) = film(&mut camera)?;
        viewer.wait()?;
        assert!(sent >= 50 && error == Error::Died);
        eprintln!("{sent} frames sent, {dropped} dropped");
        println!("camera: {error}");
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).is_some() { program::viewer() } else { program::camera() }
}

#[cfg(not(target_os = "linux"))]
fn main() {}

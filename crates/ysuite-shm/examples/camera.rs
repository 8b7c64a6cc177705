//! A camera and its viewer: two processes, and frames of any size. The viewer is slower than the camera, which then drops
//! frames instead of waiting; and it dies in the middle, which the camera is told.
//!
//! ```sh
//! cargo run -p ysuite-shm --example camera
//! ```

#[cfg(target_os = "linux")]
mod program {
    use std::os::fd::AsFd;
    use std::process::{Command, Stdio};

    use ysuite_shm::{BytesReceiver, BytesSender, Error, TrySendError, pipe_bytes};

    const FRAME: usize = 100_000;

    /// The viewer has inherited its end as its standard input.
    pub(crate) fn viewer() -> Result<(), Box<dyn std::error::Error>> {
        let mut frames = BytesReceiver::from_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
        let (mut frame, mut last) = (Vec::new(), 0);
        for _ in 0..50 {
            frame.clear();
            frames.recv_into(&mut frame)?;
            let number = u32::from_ne_bytes(frame[..4].try_into()?);
            assert!(number > last && frame.len() >= FRAME && frame[4..].iter().all(|pixel| *pixel == number as u8));
            last = number;
        }
        println!("viewer: 50 frames seen, each whole; now I crash");
        std::process::abort();
    }

    fn film(camera: &mut BytesSender) -> (u32, u32, Error) {
        let (mut sent, mut dropped) = (0, 0);
        for number in 1_u32.. {
            // Frames differ in size.
            let mut frame = vec![number as u8; FRAME + number as usize % 1_000];
            frame[..4].copy_from_slice(&number.to_ne_bytes());
            match camera.try_send(&frame) {
                Ok(()) => sent += 1,
                Err(TrySendError::Full(())) => dropped += 1,
                Err(TrySendError::Ended((), error)) => return (sent, dropped, error),
            }
        }
        unreachable!("the viewer ends")
    }

    pub(crate) fn camera() -> Result<(), Box<dyn std::error::Error>> {
        let (mut camera, viewer) = pipe_bytes(4 * FRAME)?;
        let Ok(end) = viewer.into_fd() else { unreachable!("nobody has used it") };
        let mut viewer = Command::new(std::env::current_exe()?).arg("viewer").stdin(Stdio::from(end)).spawn()?;
        let (sent, dropped, error) = film(&mut camera);
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

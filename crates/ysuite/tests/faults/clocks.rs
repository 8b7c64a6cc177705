//! Clocks that are set. All deadlines are `Instant`s, and those are of the monotonic clock, which cannot be set; a wait
//! that the kernel ends is one of that clock too, or of a length of time. The wall clock is read nowhere, which is a
//! matter of the source; that the kernel is asked for no other clock is tested here, in a namespace whose monotonic
//! clock is years away from the machine's.
//!
//! Claim: The wall clock is not read, and the monotonic clock may jump by years.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ysuite::{mpmc, mpsc, spsc, timer, watch};

use super::flows::FAMILY;
use super::messages;
use super::support::process::alone;

/// No line of the library has the wall clock.
#[test]
fn the_wall_clock_is_read_nowhere() {
    fn look(folder: &Path, files: &mut usize) {
        for entry in fs::read_dir(folder).expect("the source") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                look(&path, files);
            } else {
                let text = fs::read_to_string(&path).expect("text");
                for word in ["SystemTime", "UNIX_EPOCH", "CLOCK_REALTIME", "ClockId::Realtime", "FUTEX_CLOCK_REALTIME"]
                {
                    assert!(!text.contains(word), "{} has {word}", path.display());
                }
                *files += 1;
            }
        }
    }
    let mut files = 0;
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files > 100, "{files} files");
}

/// A time namespace applies to the children of the process that asks for it, and needs a privilege: then their
/// monotonic clock has begun ten years ago. A thread that mistook a moment of another clock for one of this would wait
/// for ten years, or not at all.
#[test]
fn a_monotonic_clock_that_is_years_away() {
    unsafe extern "C" {
        fn unshare(flags: i32) -> i32;
    }
    const NEW_TIME: i32 = 0x80;
    const TEST: &str = "clocks::a_monotonic_clock_that_is_years_away";
    const INSIDE: &str = "YSUITE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_none() {
        if !alone(TEST) {
            return;
        }
        // SAFETY: a number. The namespace is of the children that this thread makes from now on.
        let is_made = unsafe { unshare(NEW_TIME) } == 0;
        if !is_made || fs::write("/proc/thread-self/timens_offsets", "monotonic 315360000 0").is_err() {
            println!("no namespaces of time here");
            return;
        }
        let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", TEST, "--nocapture", "--test-threads=1"]).env(INSIDE, "");
        assert!(child.status().expect("a child").success());
        return;
    }
    let short = Duration::from_millis(3);
    let (_sender, mut receiver) = spsc::unbounded::<u8>();
    assert!(receiver.recv_timeout(short).is_err());
    let (_sender, mut receiver) = mpsc::unbounded::<u8>();
    assert!(receiver.recv_timeout(short).is_err());
    let (_sender, receiver) = mpmc::bounded::<u8>(1);
    assert!(receiver.recv_deadline(std::time::Instant::now() + short).is_err());
    let (_sender, mut receiver) = watch::channel(0);
    assert!(receiver.changed_timeout(short).is_err());
    assert!(timer::after(short).recv().is_ok());
    FAMILY.iter().for_each(|make| make(messages(300)).run(|_| {}, |_| std::thread::sleep(short)));
}

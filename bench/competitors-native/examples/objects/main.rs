//! Our channels from C++ compared with the queues of C++, for messages that are more than bytes: a `std::string` of 32
//! bytes, and a `std::unique_ptr`.
//!
//! ```text
//! cargo run --release -p ybench-native --features cpp,native --example objects [rounds [words]]
//! ```
//!
//! With words: only those comparisons whose headings contain them. The patterns are exchange (many to many), funnel (many
//! to one) and pipe (one to one), each without a bound and with room for 1,024 messages. The rounds are those of
//! `examples/binding`: each queue runs once in every round, and its time is divided by ours of the same round. At the end
//! are the lowest of these ratios for each comparison: that of the best of the others.

#[cfg(target_os = "linux")]
#[path = "../binding/rounds.rs"]
mod rounds;

#[cfg(target_os = "linux")]
fn main() {
    measured::all();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod measured {
    use std::ffi::{CStr, c_char};
    use std::slice;

    // Linked: the loops are in its library, and call the other.
    use ybench_native as _;
    use ysuite_c as _;

    use super::rounds::{Contender, Rounds};

    /// Messages of a figure.
    const MESSAGES: usize = 1 << 18;

    /// A queue for one kind of messages: `cpp/objects.cpp` has the same, field by field.
    #[repr(C)]
    struct Row {
        pattern: *const c_char,
        message: *const c_char,
        queue: *const c_char,
        places: usize,
        timed: unsafe extern "C" fn(usize, usize, usize, usize) -> f64,
    }

    unsafe extern "C" {
        fn ybench_objects(count: *mut usize) -> *const Row;
    }

    fn text(of: *const c_char) -> &'static str {
        // SAFETY: literals of the table.
        unsafe { CStr::from_ptr(of) }.to_str().expect("it is ASCII")
    }

    fn rows() -> &'static [Row] {
        let mut count = 0;
        // SAFETY: a table that lives as long as the program, and how many rows it has.
        unsafe { slice::from_raw_parts(ybench_objects(&raw mut count), count) }
    }

    impl Row {
        fn threads(&self) -> (usize, usize) {
            match text(self.pattern) {
                "exchange" => (4, 4),
                "funnel" => (4, 1),
                _ => (1, 1),
            }
        }

        fn heading(&self) -> String {
            let (senders, receivers) = self.threads();
            let bound = if self.places == 0 { "no bound".into() } else { format!("room for {}", self.places) };
            format!("{} of {}, {senders} to {receivers}, {bound}: ns a message", text(self.pattern), text(self.message))
        }

        fn contender(&'static self) -> Contender {
            let (senders, receivers) = self.threads();
            let time = move || {
                // SAFETY: a function of the table.
                let time = unsafe { (self.timed)(senders, receivers, self.places, MESSAGES) };
                assert!(time > 0.0, "{}: messages were lost, or came twice", text(self.queue));
                time
            };
            Contender::new(text(self.queue), None, time)
        }
    }

    pub(super) fn all() {
        let rounds = Rounds::from_arguments("objects", 9);
        let mut headings: Vec<String> = rows().iter().map(Row::heading).collect();
        headings.sort();
        headings.dedup();
        let mut best = Vec::new();
        for heading in headings {
            let contenders: Vec<Contender> =
                rows().iter().filter(|row| row.heading() == heading).map(Row::contender).collect();
            if let Some(ratio) = rounds.compare(&heading, &contenders) {
                best.push((heading, ratio));
            }
        }
        println!("\nthe best of the others / ours");
        for (heading, ratio) in best {
            println!("  {ratio:.2}  {heading}");
        }
    }
}

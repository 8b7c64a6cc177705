//! Our own channels from C and C++, through `ysuite-c`: the parts that its headers compile into the loops, and its
//! functions. Compared with our rows in Rust they show the cost of the binding, and compared with the queues of C++ the
//! relative speed there.
//!
//! All are variants of the rows in Rust. The library takes messages of up to 128 bytes by value.

use ybench_measure::scenario::Entry;
use ybench_measure::scenario::cells::drivers::{BYTES, Drivers};
use ybench_measure::transport::{Ends, Traits};
// Called by the loops.
use ysuite_c as _;

use crate::guest::everybody;

/// By value only up to the size that it is compiled for, of those that the library takes.
const COMMON: Traits =
    Traits { most_bytes: |_| BYTES[2] as usize, few_sizes: true, variant: true, batches: true, ..Traits::COMMON };
const SLEEPS: Traits = Traits { waits: ybench_measure::transport::Waits::Sleeps, ..COMMON };
const BOUNDED: Traits = Traits { bounded: true, ..COMMON };

everybody! {
    SpscOfC: entry, ybench_native_ysuite_c_spsc, "ysuite-c-spsc", "spsc from C, inline, without a bound (C)", {} of COMMON;
    SpscOfCBounded: entry, ybench_native_ysuite_c_spsc_1k, "ysuite-c-spsc-1k",
        "spsc from C, inline, with room for 1,024 messages (C)", {} of BOUNDED;
    SpscOfCSleeping: entry, ybench_native_ysuite_c_spsc_none, "ysuite-c-spsc-none",
        "spsc from C, inline, without a bound, asleep as soon as nothing is ready (C)", {} of SLEEPS;
    SpscOfCByCalls: entry, ybench_native_ysuite_c_spsc_by_calls, "ysuite-c-spsc-by-calls",
        "spsc from C, by calls only, without a bound (C)", {} of COMMON;
    SpscOfCpp: entry, ybench_native_ysuite_cpp_spsc, "ysuite-cpp-spsc", "spsc from C++, inline, without a bound (C++)",
        {} of COMMON;
    SpscOfCppBounded: entry, ybench_native_ysuite_cpp_spsc_1k, "ysuite-cpp-spsc-1k",
        "spsc from C++, inline, with room for 1,024 messages (C++)", {} of BOUNDED;
    SpscOfCppSleeping: entry, ybench_native_ysuite_cpp_spsc_none, "ysuite-cpp-spsc-none",
        "spsc from C++, inline, without a bound, asleep as soon as nothing is ready (C++)", {} of SLEEPS;
    MpscOfC: shared, ybench_native_ysuite_c_mpsc, "ysuite-c-mpsc", "mpsc from C, without a bound (C)",
        { senders: Ends::Many, one_order: false, } of COMMON;
    MpscOfCBounded: shared, ybench_native_ysuite_c_mpsc_1k, "ysuite-c-mpsc-1k",
        "mpsc from C, with room for 1,024 messages of each sender (C)",
        { senders: Ends::Many, one_order: false, } of BOUNDED;
    MpscOfCpp: shared, ybench_native_ysuite_cpp_mpsc, "ysuite-cpp-mpsc", "mpsc from C++, without a bound (C++)",
        { senders: Ends::Many, one_order: false, } of COMMON;
    MpscOfCppBounded: shared, ybench_native_ysuite_cpp_mpsc_1k, "ysuite-cpp-mpsc-1k",
        "mpsc from C++, with room for 1,024 messages of each sender (C++)",
        { senders: Ends::Many, one_order: false, } of BOUNDED;
    MpmcOfC: shared, ybench_native_ysuite_c_mpmc, "ysuite-c-mpmc", "mpmc from C, without a bound (C)",
        { senders: Ends::Many, receivers: Ends::Many, } of COMMON;
    MpmcOfCBounded: shared, ybench_native_ysuite_c_mpmc_1k, "ysuite-c-mpmc-1k",
        "mpmc from C, with room for 1,024 messages (C)",
        { senders: Ends::Many, receivers: Ends::Many, } of BOUNDED;
    MpmcOfCpp: shared, ybench_native_ysuite_cpp_mpmc, "ysuite-cpp-mpmc",
        "mpmc from C++, without a bound (C++)", { senders: Ends::Many, receivers: Ends::Many, } of COMMON;
    MpmcOfCppBounded: shared, ybench_native_ysuite_cpp_mpmc_1k, "ysuite-cpp-mpmc-1k",
        "mpmc from C++, with room for 1,024 messages (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of BOUNDED;
}

pub(crate) fn entries() -> Vec<Entry> {
    listed()
}

pub(crate) fn drivers() -> Vec<Drivers> {
    driven()
}

//! Our own channels as programs in C and C++ have them, through `ysuite-c`: what its headers compile into the loops there, and what they
//! call. Beside our rows in Rust they tell what that door costs; beside the queues of C++, who is the quicker one there.
//!
//! All are variants of what the rows in Rust are. The library takes messages of up to 128 bytes by value.

use ybench_core::scenario::Entry;
use ybench_core::scenario::cells::drivers::{BYTES, Drivers};
use ybench_core::transport::{Ends, Traits};
// What the loops call.
use ysuite_c as _;

use crate::guest::everybody;

/// By value no more than it is compiled for, of what the library takes.
const COMMON: Traits =
    Traits { most_bytes: |_| BYTES[2] as usize, few_sizes: true, variant: true, batches: true, ..Traits::COMMON };
const SLEEPS: Traits = Traits { waits: ybench_core::transport::Waits::Sleeps, ..COMMON };
const BOUNDED: Traits = Traits { bounded: true, ..COMMON };

everybody! {
    PipeOfC: entry, ybench_foreign_ysuite_c_pipe, "ysuite-c-pipe", "our pipe from C, inline, without a bound (C)", {} of COMMON;
    PipeOfCBounded: entry, ybench_foreign_ysuite_c_pipe_1k, "ysuite-c-pipe-1k",
        "our pipe from C, inline, with room for 1,024 messages (C)", {} of BOUNDED;
    PipeOfCSleeping: entry, ybench_foreign_ysuite_c_pipe_none, "ysuite-c-pipe-none",
        "our pipe from C, inline, without a bound, asleep as soon as nothing is there (C)", {} of SLEEPS;
    PipeOfCByCalls: entry, ybench_foreign_ysuite_c_pipe_by_calls, "ysuite-c-pipe-by-calls",
        "our pipe from C, by calls only, without a bound (C)", {} of COMMON;
    PipeOfCpp: entry, ybench_foreign_ysuite_cpp_pipe, "ysuite-cpp-pipe", "our pipe from C++, inline, without a bound (C++)",
        {} of COMMON;
    PipeOfCppBounded: entry, ybench_foreign_ysuite_cpp_pipe_1k, "ysuite-cpp-pipe-1k",
        "our pipe from C++, inline, with room for 1,024 messages (C++)", {} of BOUNDED;
    PipeOfCppSleeping: entry, ybench_foreign_ysuite_cpp_pipe_none, "ysuite-cpp-pipe-none",
        "our pipe from C++, inline, without a bound, asleep as soon as nothing is there (C++)", {} of SLEEPS;
    FunnelOfC: shared, ybench_foreign_ysuite_c_funnel, "ysuite-c-funnel", "our funnel from C, without a bound (C)",
        { senders: Ends::Many, one_order: false, } of COMMON;
    FunnelOfCBounded: shared, ybench_foreign_ysuite_c_funnel_1k, "ysuite-c-funnel-1k",
        "our funnel from C, with room for 1,024 messages of each sender (C)",
        { senders: Ends::Many, one_order: false, } of BOUNDED;
    FunnelOfCpp: shared, ybench_foreign_ysuite_cpp_funnel, "ysuite-cpp-funnel", "our funnel from C++, without a bound (C++)",
        { senders: Ends::Many, one_order: false, } of COMMON;
    FunnelOfCppBounded: shared, ybench_foreign_ysuite_cpp_funnel_1k, "ysuite-cpp-funnel-1k",
        "our funnel from C++, with room for 1,024 messages of each sender (C++)",
        { senders: Ends::Many, one_order: false, } of BOUNDED;
    ExchangeOfC: shared, ybench_foreign_ysuite_c_exchange, "ysuite-c-exchange", "our exchange from C, without a bound (C)",
        { senders: Ends::Many, receivers: Ends::Many, } of COMMON;
    ExchangeOfCBounded: shared, ybench_foreign_ysuite_c_exchange_1k, "ysuite-c-exchange-1k",
        "our exchange from C, with room for 1,024 messages (C)",
        { senders: Ends::Many, receivers: Ends::Many, } of BOUNDED;
    ExchangeOfCpp: shared, ybench_foreign_ysuite_cpp_exchange, "ysuite-cpp-exchange",
        "our exchange from C++, without a bound (C++)", { senders: Ends::Many, receivers: Ends::Many, } of COMMON;
    ExchangeOfCppBounded: shared, ybench_foreign_ysuite_cpp_exchange_1k, "ysuite-cpp-exchange-1k",
        "our exchange from C++, with room for 1,024 messages (C++)",
        { senders: Ends::Many, receivers: Ends::Many, } of BOUNDED;
}

pub(crate) fn entries() -> Vec<Entry> {
    listed()
}

pub(crate) fn drivers() -> Vec<Drivers> {
    driven()
}

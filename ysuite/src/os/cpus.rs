//! How many CPUs the calling thread may use. Any thread; never blocks.

use rustix::thread::sched_getaffinity;

/// Counts the affinity mask of the calling thread. A machine with more CPUs than the mask type holds answers with an
/// error, and so does a filter: then there are many as far as anybody here cares.
pub(super) fn allowed() -> usize {
    super::count_call();
    sched_getaffinity(None).map_or(usize::MAX, |mask| mask.count() as usize)
}

//! Runs work on two threads, the number of cores of the slowest machine that runs these tests.

use std::sync::Mutex;
use std::thread;

/// Returns the result of `work` for each item, in the same order.
pub(crate) fn on_two_threads<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    // A separate statement, so that the lock is released before the work starts.
                    let item = next.lock().unwrap().next();
                    let Some((place, item)) = item else { break };
                    let result = work(item);
                    done.lock().unwrap().push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

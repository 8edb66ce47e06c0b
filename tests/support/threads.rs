//! Two at a time: as many as the slowest machine these tests run on has cores.

use std::sync::Mutex;
use std::thread;

/// Returns what `work` makes of each item, in the items' order.
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
                    // A statement of its own, so that the lock is free while the work runs.
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

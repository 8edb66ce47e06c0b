//! Runs functions at the same time: one for many items on all processors, or two.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{iter, thread};

use crate::error::{Error, Result};

/// Returns what `work` returns for each item, in order. Fewer than `least` items are not worth starting threads.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    least: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>> {
    if items.len() < least {
        return Ok(items.iter().map(work).collect());
    }
    // Each thread takes the next item, since some take longer than others.
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        Some((at, work(items.get(at)?)))
    };
    let run = || iter::from_fn(take).collect::<Vec<_>>();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut all = run();
        for other in others {
            all.extend(other.join().map_err(|_| Error::failed("a thread panicked"))?);
        }
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(all.into_iter().map(|(_, result)| result).collect())
    })
}

/// Returns what two functions return, which run at the same time.
pub(crate) fn both<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> Result<(A, B)> {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        Ok((one.join().map_err(|_| Error::failed("a thread panicked"))?, other))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_however_long_each_takes() {
        let work = |item: &u64| {
            thread::sleep(Duration::from_millis(item % 3));
            item * 2
        };
        let items: Vec<u64> = (0..50).collect();
        let expected: Vec<u64> = (0..50).map(|item| item * 2).collect();
        assert_eq!(map(&items, 0, work).unwrap(), expected);
        assert_eq!(map(&items, 100, work).unwrap(), expected);
        assert_eq!(map(&[], 0, work).unwrap(), Vec::<u64>::new());
        assert_eq!(both(|| 1, || "two").unwrap(), (1, "two"));
    }
}

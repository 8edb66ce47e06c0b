//! Runs a function for many items on all processors.

use std::thread;

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
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(threads).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(|| part.iter().map(&work).collect::<Vec<R>>())).collect();
        let mut all = Vec::with_capacity(items.len());
        for part in parts {
            all.extend(part.join().map_err(|_| Error::failed("a thread panicked"))?);
        }
        Ok(all)
    })
}

//! Aborts the process at its n-th file operation, so that tests can kill it at every one. Only debug builds have it.

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(debug_assertions)]
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Makes the process abort in place of its n-th file operation from now on; 0 disarms.
#[cfg(debug_assertions)]
pub fn arm(nth: usize) {
    LEFT.store(nth, Ordering::SeqCst);
}

/// Counts a file operation; returns whether the process must abort.
#[cfg(debug_assertions)]
pub(crate) fn is_reached() -> bool {
    let count = |left: usize| left.checked_sub(1);
    LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) == Ok(1)
}

/// Returns false, because a release build has no fail point.
#[cfg(not(debug_assertions))]
#[inline]
pub(crate) const fn is_reached() -> bool {
    false
}

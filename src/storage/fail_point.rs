//! Aborts the process at its n-th file operation, so that tests can kill it at every one.

#[cfg(feature = "fail-point")]
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "fail-point")]
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// Makes the process abort in place of its n-th file operation from now on; 0 disarms.
#[cfg(feature = "fail-point")]
pub fn arm(nth: usize) {
    LEFT.store(nth, Ordering::SeqCst);
}

/// Counts a file operation; returns whether the process must abort.
#[cfg(feature = "fail-point")]
pub(crate) fn is_reached() -> bool {
    let count = |left: usize| left.checked_sub(1);
    LEFT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count) == Ok(1)
}

/// Returns false, because fail points are only compiled in for tests.
#[cfg(not(feature = "fail-point"))]
#[inline]
pub(crate) const fn is_reached() -> bool {
    false
}

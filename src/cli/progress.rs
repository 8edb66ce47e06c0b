//! Shows on a terminal how far a long task is.

use std::io;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::progress::Progress;

/// Delay before a progress bar is shown, so that short tasks do not make it flash.
const PATIENCE: Duration = Duration::from_millis(400);

/// Returns the progress reporter of this run: bars on standard error if it is a terminal, otherwise none.
pub(crate) fn progress_on_terminal() -> Progress {
    if !io::stderr().is_terminal() {
        return Progress::default();
    }
    Progress::watched(|task, total| {
        let bar = bar(task, total);
        let mut is_shown = false;
        Box::new(move || {
            if !is_shown && bar.elapsed() >= PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                is_shown = true;
            }
            bar.inc(1);
        })
    })
}

/// Returns a hidden bar, which is cleared when it is dropped.
fn bar(task: &str, total: usize) -> ProgressBar {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
        .with_style(style)
        .with_finish(ProgressFinish::AndClear)
        .with_message(task.to_owned())
}

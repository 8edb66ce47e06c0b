//! A progress bar for what takes long, on a terminal only.

use std::io;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::ProgressBar;
use indicatif::ProgressDrawTarget;
use indicatif::ProgressFinish;
use indicatif::ProgressStyle;

use crate::progress::Progress;

/// What is done sooner shows no bar: a flash on the screen is noise.
const PATIENCE: Duration = Duration::from_millis(400);

/// Returns the progress of this run: bars on standard error if it is a terminal, else nothing.
pub(crate) fn on_terminal() -> Progress {
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

/// Returns a bar that is not shown yet, and is wiped away when it is dropped.
fn bar(task: &str, total: usize) -> ProgressBar {
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden())
        .with_style(style)
        .with_finish(ProgressFinish::AndClear)
        .with_message(task.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_s_template_is_understood() {
        assert!(
            ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}").is_ok()
        );
        let bar = bar("Indexing", 12);
        assert_eq!(
            (bar.length(), bar.message().as_str()),
            (Some(12), "Indexing")
        );
        assert!(bar.is_hidden());
    }
}

//! Reports the progress of long tasks to an observer, if an interface sets one.

use std::fmt;
use std::sync::Arc;

/// Called after each item of a task.
pub type StepCallback = Box<dyn FnMut()>;

type Begin = dyn Fn(&str, usize) -> StepCallback + Send + Sync;

/// A progress reporter: `for file in project.progress.track("Indexing", files)`.
#[derive(Clone, Default)]
pub struct Progress {
    begin: Option<Arc<Begin>>,
}

impl Progress {
    /// Returns a reporter that calls `begin` for every task, with its name and its number of items.
    pub fn watched(begin: impl Fn(&str, usize) -> StepCallback + Send + Sync + 'static) -> Self {
        Self { begin: Some(Arc::new(begin)) }
    }

    /// Iterates over the items of a task, and reports each one when the next is requested.
    pub fn track<I>(&self, task: &str, items: I) -> impl Iterator<Item = I::Item>
    where
        I: IntoIterator<IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        let mut step = self.begin.as_ref().map(|begin| begin(task, items.len()));
        let mut is_first = true;
        let mut tell = move || {
            if let Some(step) = step.as_mut().filter(|_| !is_first) {
                step();
            }
            is_first = false;
        };
        items.inspect(move |_| tell())
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watched = self.begin.is_some();
        f.debug_struct("Progress").field("watched", &watched).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn whoever_watches_is_told_of_the_task_and_of_each_item() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&told);
        let progress = Progress::watched(move |task, total| {
            log.lock().unwrap().push(format!("{task} {total}"));
            let log = Arc::clone(&log);
            Box::new(move || log.lock().unwrap().push("step".to_owned()))
        });
        assert_eq!(progress.track("Reading", [1, 2, 3]).sum::<i32>(), 6);
        assert_eq!(*told.lock().unwrap(), ["Reading 3", "step", "step"]);
        assert_eq!(Progress::default().track("Reading", [1, 2]).count(), 2);
    }
}

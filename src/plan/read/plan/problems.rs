//! Reports what a plan lacks for execution.

use crate::plan::read::{Plan, PlanTask};
use crate::text::pluralize;
use crate::warning::Warning;

impl Plan {
    /// Returns what the plan lacks: fields that the order of execution depends on, and parts of its tasks.
    pub fn problems(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        let fields = [
            ("phase", self.phase.is_some()),
            ("plan", self.plan.is_some()),
            ("wave", self.wave.is_some()),
            ("depends_on", self.depends_on.is_some()),
            ("must_haves", self.must_haves.is_some()),
        ];
        let missing: Vec<&str> =
            fields.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect();
        if !missing.is_empty() {
            let message = format!("the plan does not state {}", missing.join(", "));
            found.push(Warning::file(&self.file, message));
        }
        if self.tasks.is_empty() {
            found.push(Warning::file(&self.file, "the plan has no tasks"));
        }
        // A checkpoint needs no name.
        let is_named = |task: &PlanTask| task.name.is_some() || task.kind_is("checkpoint");
        found.extend(self.tasks_without("a name", is_named));
        found.extend(self.tasks_without("an action", |task| task.has_action));
        found.extend(self.tasks_without("a way to check that it is done", |task| task.has_check));
        found
    }

    /// Returns a single warning that lists the tasks for which `has` is false.
    fn tasks_without(&self, what: &str, has: impl Fn(&PlanTask) -> bool) -> Option<Warning> {
        let without: Vec<(usize, &PlanTask)> =
            self.tasks.iter().enumerate().filter(|(_, task)| !has(task)).collect();
        let line = without.first()?.1.line;
        let numbers: Vec<String> = without.iter().map(|(at, _)| (at + 1).to_string()).collect();
        let noun = pluralize(numbers.len(), "task");
        let message = format!("without {what}: {noun} {}", numbers.join(", "));
        Some(Warning::at(&self.file, line, message))
    }
}

//! Points by field, and what was answered wrongly.

use std::fmt;

use serde_json::Value;

use crate::gold::ambiguity;

/// What one field's points are.
#[derive(Default)]
struct Tally {
    group: &'static str,
    field: String,
    right: usize,
    total: usize,
    /// The same for what the gold calls ambiguous.
    apart_right: usize,
    apart_total: usize,
}

struct Mismatch {
    field: String,
    file: String,
    expected: String,
    got: String,
    is_apart: bool,
}

/// The points of all fields, in the order in which they were first scored.
#[derive(Default)]
pub(super) struct Scores {
    tallies: Vec<Tally>,
    mismatches: Vec<Mismatch>,
}

/// One gold row while its fields are scored.
pub(super) struct Row<'a> {
    scores: &'a mut Scores,
    group: &'static str,
    file: String,
    reason: Option<&'a str>,
}

impl Scores {
    /// Begins a gold row; `file` is what a mismatch is listed under.
    pub(super) fn row<'a>(
        &'a mut self,
        group: &'static str,
        file: String,
        row: &'a Value,
    ) -> Row<'a> {
        let is_ambiguous = row["ambiguous"].as_bool() == Some(true);
        let reason = row["reason"].as_str().filter(|_| is_ambiguous);
        Row { scores: self, group, file, reason }
    }

    /// Returns (right, total) of a group, of one `group.field`, or of `overall`, without what is ambiguous.
    pub(super) fn points(&self, name: &str) -> (usize, usize) {
        self.sum(name, |tally| (tally.right, tally.total))
    }

    /// Returns the same of what is ambiguous.
    pub(super) fn points_apart(&self, name: &str) -> (usize, usize) {
        self.sum(name, |tally| (tally.apart_right, tally.apart_total))
    }

    fn sum(&self, name: &str, points: impl Fn(&Tally) -> (usize, usize)) -> (usize, usize) {
        self.tallies
            .iter()
            .filter(|tally| name == "overall" || name == tally.group || name == tally.name())
            .map(points)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Returns a line for each group below its floor, given in percent.
    pub(super) fn below(&self, floors: &[(&str, usize)]) -> Vec<String> {
        floors
            .iter()
            .filter_map(|(group, floor)| {
                let (right, total) = self.points(group);
                let holds = total > 0 && right * 100 >= floor * total;
                (!holds)
                    .then(|| format!("{group}: {right}/{total} is below its floor of {floor} %"))
            })
            .collect()
    }

    /// Returns the fields that lost a point, ambiguous ones too.
    pub(super) fn wrong(&self) -> Vec<&str> {
        self.mismatches.iter().map(|one| one.field.as_str()).collect()
    }

    fn tally(&mut self, group: &'static str, field: &str) -> &mut Tally {
        let known = |tally: &Tally| tally.group == group && tally.field == field;
        let place = self.tallies.iter().position(known).unwrap_or_else(|| {
            self.tallies.push(Tally { group, field: field.to_owned(), ..Tally::default() });
            self.tallies.len() - 1
        });
        &mut self.tallies[place]
    }
}

impl Row<'_> {
    /// Scores one field of the row.
    pub(super) fn field(
        &mut self,
        field: &str,
        expected: &Value,
        got: Option<&Value>,
        right: bool,
    ) {
        let is_apart = ambiguity::names(self.reason, field);
        let right = right || is_apart && ambiguity::accepts(self.reason, got);
        self.mark(field, expected, got, right, is_apart);
    }

    /// Scores one field of a row where the caller knows whether it counts apart.
    pub(super) fn mark(
        &mut self,
        field: &str,
        expected: &Value,
        got: Option<&Value>,
        right: bool,
        is_apart: bool,
    ) {
        let tally = self.scores.tally(self.group, field);
        if is_apart {
            tally.apart_total += 1;
            tally.apart_right += usize::from(right);
        } else {
            tally.total += 1;
            tally.right += usize::from(right);
        }
        if !right {
            let field = tally.name();
            self.scores.mismatches.push(Mismatch {
                field,
                file: self.file.clone(),
                expected: expected.to_string(),
                got: got.map_or("nothing".to_owned(), Value::to_string),
                is_apart,
            });
        }
    }
}

impl Tally {
    fn name(&self) -> String {
        format!("{}.{}", self.group, self.field)
    }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Field by field, as one rule is to be mended at a time.
        let mut mismatches: Vec<_> = self.mismatches.iter().collect();
        mismatches.sort_by(|one, other| one.field.cmp(&other.field));
        for mismatch in mismatches {
            let apart = if mismatch.is_apart { " (ambiguous)" } else { "" };
            writeln!(f, "{}{apart}  {}", mismatch.field, mismatch.file)?;
            writeln!(f, "    expected {}", mismatch.expected)?;
            writeln!(f, "    got      {}", mismatch.got)?;
        }
        for tally in &self.tallies {
            line(f, self, &tally.name())?;
        }
        let mut groups: Vec<_> = self.tallies.iter().map(|tally| tally.group).collect();
        groups.dedup();
        for group in groups.into_iter().chain(["overall"]) {
            line(f, self, group)?;
        }
        Ok(())
    }
}

/// `summary.status            40/42   95.2 %   ambiguous 1/3`
fn line(f: &mut fmt::Formatter<'_>, scores: &Scores, name: &str) -> fmt::Result {
    let (right, total) = scores.points(name);
    let percent = (right * 1000).checked_div(total).unwrap_or(0);
    let (whole, tenth) = (percent / 10, percent % 10);
    write!(f, "{name:<26} {:>9}  {whole:>3}.{tenth} %", format!("{right}/{total}"))?;
    match scores.points_apart(name) {
        (_, 0) => writeln!(f),
        (right, total) => writeln!(f, "   ambiguous {right}/{total}"),
    }
}

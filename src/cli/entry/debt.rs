//! `annals entry debt`

use std::io;
use std::io::Write;

use crate::cli::output::Output;
use crate::error::Result;
use crate::knowledge;
use crate::knowledge::{Debt, DebtMarker};
use crate::project::Project;
use crate::text::quantity;

pub(super) fn run(project: &Project, out: &mut Output) -> Result<()> {
    let debt = knowledge::debt(project);
    out.warnings(&debt.warnings);
    out.result(&debt, show)
}

fn show(debt: &Debt, to: &mut dyn Write) -> io::Result<()> {
    for file in &debt.files {
        writeln!(to, "{}", file.file)?;
        for marker in &file.markers {
            writeln!(to, "  {}", line(marker))?;
        }
    }
    writeln!(to, "{}, {} with no trigger.", quantity(debt.markers, "marker"), debt.no_trigger)
}

fn line(marker: &DebtMarker) -> String {
    let flag = if marker.no_trigger { "no-trigger  " } else { "" };
    let mut line = format!("{}  {flag}{}.", marker.line, marker.what);
    for (label, part) in [("ceiling", &marker.ceiling), ("upgrade", &marker.upgrade)] {
        if let Some(part) = part {
            for piece in [" ", label, ": ", part, "."] {
                line.push_str(piece);
            }
        }
    }
    line
}

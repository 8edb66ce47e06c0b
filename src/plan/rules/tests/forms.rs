//! One small roadmap in many forms: what is read is right, and what is not is `unknown`.

use crate::plan::rules::tests::{THREE, answer};

/// Returns the answer for three phases in a roadmap, each an entry with its number and its name, of which the first is done.
fn of_form(entry: &str, [done, open]: [&str; 2]) -> String {
    let entries = [("1", "Gauges", done), ("2", "Alerts", open), ("3", "Report", open)];
    let entries = entries.map(|(number, name, status)| {
        entry.replace('#', number).replace("Name", name).replace('_', status)
    });
    let head =
        if entry.starts_with('|') { "| Phase | Name | Status |\n|---|---|---|\n" } else { "" };
    let entries = entries.map(|entry| entry.replace('H', "###"));
    let between = if entry.starts_with(['|', '-']) { "\n" } else { "\n\n" };
    answer(&[(
        "ROADMAP.md",
        &format!("# Roadmap\n\n## Phases\n\n{head}{}\n", entries.join(between)),
    )])
}

#[test]
fn a_status_is_read_wherever_it_stands() {
    let words = ["Complete", "Not started"];
    for (entry, statuses) in [
        ("H _ Phase #: Name", ["\u{2705}", "\u{2b1c}"]),
        ("H [_] Phase #: Name", ["x", " "]),
        ("H [_] Phase #: Name", ["DONE", "TODO"]),
        ("H Phase #: Name _", ["\u{2705}", ""]),
        ("H Phase #: Name _", ["DONE", ""]),
        ("H Phase #: Name *(_)*", words),
        ("H **Phase #: Name** (_)", ["100%", "0%"]),
        ("H **Phase #: Name** \u{2014} _", words),
        ("H [Phase #: Name](phases/0#/) _", ["\u{2705}", ""]),
        ("H Phase # (_)", words),
        ("H Phase # \u{2014} _", ["COMPLETE", ""]),
        ("H Phase #: Name\n\n- Status: _", words),
        ("H Phase #: Name\n\n- **Status**: _\n- **Goal**: More", words),
        ("- _ Phase #: Name", ["\u{2705}", "\u{2b1c}"]),
        ("- _ **Phase #** - Name", ["\u{2705}", ""]),
        ("- **Phase #: Name** _", ["\u{2705}", ""]),
        ("- **Phase #: Name** (_)", words),
        ("- Phase #: Name (_)", ["2/2 plans", "0/2 plans"]),
        ("- **Phase #: Name**\n  - Status: _", words),
        ("- [_] Phase #", ["x", "~"]),
        ("| # | Name | _ |", ["[x]", "[ ]"]),
        ("| # | Name | _ |", ["100%", "0%"]),
        ("| # | Name | _ |", ["2/2", "0/2"]),
    ] {
        assert_eq!(of_form(entry, statuses), "plan 2", "{entry} {statuses:?}");
    }
    for entry in [
        "- **Phase #: Name** - _ list of names",
        "- **Phase #: Name** - _: a definition",
        "- [ ] **Phase #: Name** - _",
        "- [ ] **Phase #: Name** (2/2 plans written)",
        "H Phase #: Definition of DONE",
        "H Phase #: Coverage (100%)",
        "H Phase #: Name\n\n_-list of names",
        "H Phase #: Name\n\n**Wave 1**\n- Status: _",
        "H Phase #: Name\n\n**Depends on**:\n- Status: _",
        "H Phase #: Name\n\n- 0#-01: setup\n  - Status: _",
        "H Phase #: Name\n\n- Status: _ when all tests pass",
        "- **Phase #: Name**\n  - Setup\n    - Status: _",
    ] {
        assert_eq!(of_form(entry, ["Done", "Done"]), "plan 1", "{entry}");
    }
    let covered = "\n\n| Phase | Requirements | Done |\n|---|---|---|\n| 1 | R-01 | 1/1 |\n| 2 | R-02 | 1/1 |\n";
    assert_eq!(answer(&[("ROADMAP.md", &format!("{THREE}{covered}"))]), "plan 2");
}

#[test]
fn a_roadmap_in_a_form_that_is_not_read_is_not_blank() {
    let statuses = ["\u{2705}", "\u{2b1c}"];
    for entry in [
        "H #. Name _", "H P#: Name _", "H Phase-#: Name _", "H Name (Phase #) _",
        "_ **Phase #: Name**", "**Phase #** - Name _", "- P#: Name _", "- **Name** (Phase #) _",
    ] {
        assert_eq!(of_form(entry, statuses), "unknown", "{entry}");
    }
    let shipped = "# Roadmap\n\n<details>\n<summary>\u{2705} v1.0 (Phases 1-2) \u{2014} SHIPPED 2026-01-02</summary>\n\n\
                   - [x] Phase 1: Gauges\n- [x] Phase 2: Alerts\n\n</details>\n\n## v1.1 (in progress)\n\n";
    for entry in [
        "- Phase 3: Report",
        "**Phase 3: Report**",
        "| Name | Status |\n|---|---|\n| Report | Pending |",
    ] {
        let roadmap = format!("{shipped}{entry}\n");
        assert_eq!(answer(&[("ROADMAP.md", &roadmap)]), "unknown", "{entry}");
    }
    for part in [
        "## Risks\n\n| Risk | Status |\n|---|---|\n| Stripe | Active |",
        "## Goals\n\n- G1: fast\n- G2: safe",
    ] {
        let roadmap = shipped.replace("## v1.1 (in progress)", part);
        assert_eq!(answer(&[("ROADMAP.md", &roadmap)]), "none", "{part}");
    }
    let roadmap = format!("{shipped}## Ideas\n\n- [ ] Mobile\n- REQ-01 and REQ-02 of Phase 2\n");
    assert_eq!(answer(&[("ROADMAP.md", &roadmap)]), "plan 1");
}

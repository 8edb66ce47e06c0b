//! Which files get the block, and how a run over several ends.

use annals::claude_md::{ContextFileOutcome, ShrinkStep};
use annals::project::ContextTarget;
use annals::text::Line;

use crate::claude_md::{Tree, fs};

const BEGIN: &str = "<!-- annals:begin v1 sha256=";

fn outcomes(tree: &Tree) -> Vec<(String, ContextFileOutcome)> {
    let done = tree.twice();
    let files = done.files.iter();
    files.map(|file| (file.file.display().to_string(), file.outcome)).collect()
}

#[test]
fn a_claude_md_that_only_imports_agents_md_is_left_alone() {
    let tree = Tree::new();
    tree.put("CLAUDE.md", "@AGENTS.md\n");
    let written = [("AGENTS.md".to_owned(), ContextFileOutcome::Created)];
    assert_eq!(outcomes(&tree), written);
    assert_eq!(tree.text("CLAUDE.md"), "@AGENTS.md\n");
    assert!(tree.text("AGENTS.md").starts_with(BEGIN));
}

#[test]
fn files_are_written_where_asked_for_or_already_ours() {
    let mut tree = Tree::new();
    tree.put("GEMINI.md", "Own.\n");
    tree.put("CLAUDE.md", "Own.\n");
    tree.put("AGENTS.md", "Own.\n");
    assert_eq!(outcomes(&tree), [("CLAUDE.md".to_owned(), ContextFileOutcome::Updated)]);
    assert_eq!(tree.text("GEMINI.md"), "Own.\n");

    tree.targets = vec![ContextTarget::Gemini, ContextTarget::Agents];
    assert_eq!(
        outcomes(&tree),
        [
            ("CLAUDE.md".to_owned(), ContextFileOutcome::Unchanged),
            ("AGENTS.md".to_owned(), ContextFileOutcome::Updated),
            ("GEMINI.md".to_owned(), ContextFileOutcome::Updated),
        ]
    );
    tree.targets = vec![ContextTarget::Claude];
    tree.content.milestone = Some(Line::new("Returns"));
    assert_eq!(tree.run().unwrap().files.len(), 3);
    assert!(tree.text("GEMINI.md").contains("**Milestone:** Returns"));
    assert!(tree.text("GEMINI.md").ends_with("Own.\n"));
}

#[test]
fn beside_agents_md_no_claude_md_is_made_that_would_hide_it() {
    let tree = Tree::new();
    tree.put("AGENTS.md", "Never touch vendor/.\n");
    assert_eq!(outcomes(&tree), [("AGENTS.md".to_owned(), ContextFileOutcome::Updated)]);
    assert!(!tree.path("CLAUDE.md").exists());
    assert!(tree.text("AGENTS.md").ends_with("Never touch vendor/.\n"));
}

#[test]
fn a_block_moves_to_agents_md_once_claude_md_imports_it() {
    let tree = Tree::new();
    tree.put("CLAUDE.md", "Use tabs.\n");
    tree.run().unwrap();
    let with_import = tree.text("CLAUDE.md") + "\n@AGENTS.md\n";
    tree.put("CLAUDE.md", with_import);
    tree.put("AGENTS.md", "Own.\n");
    tree.run().unwrap();
    let both = || (tree.text("CLAUDE.md"), tree.text("AGENTS.md"));
    let written = both();
    assert_eq!(written.0, "Use tabs.\n\n@AGENTS.md\n");
    assert!(written.1.starts_with(BEGIN));
    // CLAUDE.md has no block any more, so a second run neither names nor changes it.
    assert_eq!(outcomes(&tree), [("AGENTS.md".to_owned(), ContextFileOutcome::Unchanged)]);
    assert_eq!(both(), written);
}

#[test]
fn of_two_targets_the_one_that_imports_the_other_gets_no_block() {
    let mut tree = Tree::new();
    tree.targets = vec![ContextTarget::Claude, ContextTarget::Gemini];
    tree.put("CLAUDE.md", "Use tabs.\n");
    tree.put("GEMINI.md", "@./CLAUDE.md\n");
    assert_eq!(outcomes(&tree), [("CLAUDE.md".to_owned(), ContextFileOutcome::Updated)]);
    assert_eq!(tree.text("GEMINI.md"), "@./CLAUDE.md\n");
    let both = "@GEMINI.md\n".to_owned() + &tree.text("CLAUDE.md");
    tree.put("CLAUDE.md", both);
    assert_eq!(outcomes(&tree).len(), 2);
}

#[test]
fn the_placeholder_of_a_link_is_a_link() {
    let tree = Tree::new();
    tree.put("CLAUDE.md", "AGENTS.md");
    tree.put("AGENTS.md", "Own.\n");
    assert_eq!(outcomes(&tree), [("AGENTS.md".to_owned(), ContextFileOutcome::Updated)]);
    assert_eq!(tree.text("CLAUDE.md"), "AGENTS.md");
}

#[test]
fn what_codex_does_not_read_is_named() {
    let tree = Tree::new();
    tree.put("AGENTS.md", "Own rule.\n".repeat(4000));
    let done = tree.twice();
    let said = &done.warnings[0].message;
    assert!(
        said.starts_with("Codex reads the first 32 KiB; it ignores everything from here on: "),
        "{said}"
    );
}

#[test]
fn one_run_reaches_the_fixed_point() {
    let tree = Tree::new();
    tree.put("CLAUDE.md", "# shop\n\nUse tabs.\n");
    tree.run().unwrap();
    let text = tree.text("CLAUDE.md");
    let (before, after) = text.split_once("## ").unwrap();
    tree.put("CLAUDE.md", format!("{before}Remember the red door.\n\n## {after}"));
    tree.twice();
    assert!(tree.text("CLAUDE.md").contains("Remember the red door."));
    // What the workflow's generator writes later goes again, and what a person adds to it stays.
    let own =
        "\n## Active Context\n\n**Work:** No active milestone\n**Next action:** Run /vbw:vibe\n";
    tree.put("CLAUDE.md", tree.text("CLAUDE.md") + own);
    let done = tree.twice();
    assert!(!tree.text("CLAUDE.md").contains("No active milestone"));
    assert!(done.warnings[0].message.contains("written by VBW, replaced"), "{done:?}");
    tree.put("CLAUDE.md", tree.text("CLAUDE.md") + own + "Ask Ada.\n");
    let done = tree.twice();
    assert!(tree.text("CLAUDE.md").contains("No active milestone"));
    assert!(
        done.warnings[0].message.contains("with another next action (Run /vbw:vibe)"),
        "{done:?}"
    );
}

#[test]
fn a_documented_marker_does_not_ask_for_a_block() {
    let tree = Tree::new();
    tree.put("GEMINI.md", "```\n<!-- annals:end -->\n```\n");
    assert_eq!(outcomes(&tree).len(), 1);
}

#[test]
fn a_refused_file_keeps_no_other_from_being_written() {
    let mut tree = Tree::new();
    tree.targets = ContextTarget::ALL.to_vec();
    tree.put("CLAUDE.md", "<!-- annals:end -->\n");
    let done = tree.run().unwrap();
    assert_eq!(done.refused.len(), 1);
    assert_eq!(done.files.len(), 2, "{done:?}");
    assert_eq!(tree.text("CLAUDE.md"), "<!-- annals:end -->\n");
    let error = &done.refused[0];
    assert_eq!(error.kind.exit_code(), 4);
    assert_eq!(
        error.to_string(),
        "CLAUDE.md:1: the markers of the block are unbalanced or duplicated (line 1)"
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through_only_inside_the_project() {
    use std::os::unix::fs::symlink;

    let mut tree = Tree::new();
    tree.targets = vec![ContextTarget::Claude, ContextTarget::Agents];
    symlink("AGENTS.md", tree.path("CLAUDE.md")).unwrap();
    assert_eq!(outcomes(&tree), [("CLAUDE.md".to_owned(), ContextFileOutcome::Created)]);
    assert!(fs::symlink_metadata(tree.path("CLAUDE.md")).unwrap().is_symlink());
    assert!(tree.text("AGENTS.md").starts_with(BEGIN));

    let outside = tempfile::tempdir().unwrap();
    let shared = outside.path().join("shared.md");
    fs::write(&shared, "Shared.\n").unwrap();
    symlink(&shared, tree.path("GEMINI.md")).unwrap();
    tree.targets.push(ContextTarget::Gemini);
    let done = tree.run().unwrap();
    assert_eq!(done.refused.len(), 1, "{done:?}");
    assert_eq!(fs::read_to_string(&shared).unwrap(), "Shared.\n");
}

#[test]
fn the_settings_limit_lines() {
    let tree = Tree::new();
    tree.put("annals.toml", "max_lines = 25\n");
    tree.put("CLAUDE.md", "own\n".repeat(5));
    let done = tree.twice();
    assert!(done.files[0].lines <= 25, "{done:?}");
    assert!(done.files[0].shrunk.contains(&ShrinkStep::NoPatterns));
    tree.put("annals.toml", "max_lines = 9\n");
    let done = tree.run().unwrap();
    assert!(done.files[0].excess > 0);
    assert!(done.warnings[0].message.contains("lines over the limit"), "{done:?}");
}

#[test]
fn beside_a_long_text_of_the_users_the_block_has_room_for_28_lines() {
    let tree = Tree::new();
    let own = "own\n".repeat(230);
    tree.put("CLAUDE.md", &own);
    let done = tree.twice();
    assert_eq!((done.files[0].excess, &done.warnings[..]), (0, &[][..]));
    assert!(done.files[0].lines <= 230 + 2 + 28, "{}", done.files[0].lines);
    let text = tree.text("CLAUDE.md");
    assert!(text.ends_with(&own));
    for kept in [
        "# shop", "**Core value:**", "## Active Context", "**Phase:** 2 - Cart",
        "## Key Decisions", "## Learned Patterns",
    ] {
        assert!(text.contains(kept), "{kept}");
    }
    assert!(!text.contains("## VBW Commands"));
}

//! Makes text harmless for the agents that read it.
//!
//! Planning files, lessons and notes are data. Their text must not make a client read another file, nor look
//! as if the client itself had written it.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::{listed, strip_controls};

/// Returns the text so that no client obeys it: without control and invisible characters, with a backslash in
/// each tag that a client or a model uses itself, and before each `@` that could import a file.
///
/// Every generated file goes through here. Claude Code reads markdown and imports `@path` at the start of a
/// run of text or after white space, where a run also begins behind `**`, `[`, `(` or a code span. Gemini CLI
/// imports it after white space. Neither looks into code spans, so text in them stays as written.
///
/// ```
/// assert_eq!(annals::text::inert("see **@~/.ssh/id</system-reminder>"), r"see **\@~/.ssh/id<\/system-reminder>");
/// ```
pub fn inert(text: &str) -> Cow<'_, str> {
    map(without_harness_tags(text), |text| {
        let offsets = text.lines().flat_map(|line| {
            let start = line.as_ptr().addr() - text.as_ptr().addr();
            imports(line).into_iter().map(move |at| start + at)
        });
        with_backslashes(text, &offsets.collect::<Vec<_>>())
    })
}

/// Returns the text as [`inert`] does, except that `@path` stays: no client follows one in what a program
/// prints.
pub(crate) fn without_harness_tags(text: &str) -> Cow<'_, str> {
    map(strip_controls(text), |text| {
        let tags = text
            .match_indices('<')
            .map(|(at, _)| at + 1)
            .filter(|at| opens_harness_tag(&text[*at..]));
        let brackets = text
            .match_indices('[')
            .map(|(at, _)| at + 1)
            .filter(|at| opens_instruction(&text[*at..]));
        let mut offsets: Vec<usize> = tags.chain(brackets).collect();
        offsets.sort_unstable();
        with_backslashes(text, &offsets)
    })
}

/// Returns the text of one line with code spans that every client sees alike.
///
/// A lone backtick would shift the spans of the text behind it, and so bring an `@path` out of its own.
pub(crate) fn with_paired_backticks(line: &str) -> Cow<'_, str> {
    if line.contains('`') && code_spans(line).is_none() {
        Cow::Owned(line.replace('`', "'"))
    } else {
        Cow::Borrowed(line)
    }
}

fn map(text: Cow<'_, str>, change: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    match change(&text) {
        Some(changed) => Cow::Owned(changed),
        None => text,
    }
}

fn with_backslashes(text: &str, offsets: &[usize]) -> Option<String> {
    offsets.first()?;
    let mut escaped = String::with_capacity(text.len() + offsets.len());
    let mut kept = 0;
    for at in offsets {
        escaped.extend([&text[kept..*at], "\\"]);
        kept = *at;
    }
    escaped.push_str(&text[kept..]);
    Some(escaped)
}

/// Returns the offsets of each `@` of a line that a client could take for an import.
fn imports(line: &str) -> Vec<usize> {
    if !line.contains('@') {
        return Vec::new();
    }
    let mut spans = code_spans(line).unwrap_or_default().into_iter().peekable();
    line.match_indices('@')
        .map(|(at, _)| at)
        .filter(|at| {
            while spans.next_if(|span| span.end <= *at).is_some() {}
            let is_code = spans.peek().is_some_and(|span| span.contains(at));
            !is_code && names_file(&line[at + 1..]) && starts_word(&line[..*at])
        })
        .collect()
}

/// Returns whether a path could start here, in one client's grammar or another's.
fn names_file(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "._-~/".contains(c))
}

/// Returns whether an `@` behind this text is neither inside a word, as in an address, nor escaped.
fn starts_word(before: &str) -> bool {
    let is_escaped = (before.len() - before.trim_end_matches('\\').len()) % 2 == 1;
    !is_escaped && !before.ends_with(char::is_alphanumeric)
}

/// Returns the code spans of a line; none if its backticks are not pairs of single ones.
fn code_spans(line: &str) -> Option<Vec<Range<usize>>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    let is_plain = ticks.len().is_multiple_of(2)
        && ticks.windows(2).all(|pair| pair[0] + 1 < pair[1])
        && ticks.iter().step_by(2).all(|at| !line[..*at].ends_with('\\'));
    is_plain.then(|| ticks.chunks(2).map(|pair| pair[0]..pair[1]).collect())
}

/// Names of tags that clients and models use themselves.
const TAGS: &str = "system assistant human developer invoke parameter thinking think tools \
    instructions permissions task-notification persisted-output new-diagnostics start_of_turn end_of_turn \
    extension_context project_context global_context loaded_context untrusted_context state_snapshot \
    task_state model_switch persistent_mode skill activated_skill codex_delegation extracted_memories cwd s";

/// Names that are also common in code, with a capital or without attributes behind: `Vec<Message>`, `<Message id={1}>`.
const TAGS_WITH_ATTRIBUTES: &str = "channel message relay wake";

/// How the names of families of such tags begin.
const TAG_FAMILIES: &str = "antml:|system-|system_|function_|tool_|tool-|user-|user_|command-|\
    local-command-|bash-|environment_|session_|session-|collaboration_|permissions |turn_|hook_|ide_|\
    available_|subagent|teammate-|budget:|cross-session-";

/// Returns whether the text behind a `<` makes it a tag of a client or a special token of a model.
fn opens_harness_tag(rest: &str) -> bool {
    if rest.starts_with('|') || rest.starts_with("\u{ff5c}") || rest.starts_with("<SYS>") {
        return true;
    }
    let rest = rest.trim_start_matches([' ', '/']);
    let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:".contains(c));
    let (name, rest) = rest.split_at(name.unwrap_or(rest.len()));
    let as_written = name;
    let name = name.to_ascii_lowercase();
    let has_attributes = || {
        let inside = rest.split(['>', '<', '\n']).next().unwrap_or_default();
        inside.starts_with(char::is_whitespace) && inside.contains('=')
    };
    listed(TAGS, &name)
        || TAG_FAMILIES.split('|').any(|family| name.starts_with(family))
        || as_written.ends_with("_instructions")
        || name == "functions" && rest.starts_with('>')
        || listed(TAGS_WITH_ATTRIBUTES, as_written) && has_attributes()
}

/// Returns whether the text behind a `[` makes it the bracket around an instruction.
fn opens_instruction(rest: &str) -> bool {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    ["INST]", "SYSTEM_PROMPT]", "AVAILABLE_TOOLS]", "TOOL_RESULTS]", "TOOL_CALLS]"]
        .iter()
        .any(|token| rest.starts_with(token))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;
    use crate::text::Line;

    /// The paths that Claude Code imports: of each run of text, what follows an `@` at its start or after white space.
    fn claude_imports(markdown: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut in_code = false;
        // Escapes end a run: the `@` of `\@` stands in a token of its own.
        for (event, range) in Parser::new(markdown).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => in_code = true,
                Event::End(pulldown_cmark::TagEnd::CodeBlock) => in_code = false,
                Event::Text(text) if !in_code && !markdown[..range.start].ends_with('\\') => {
                    let starts = std::iter::once(0).chain(
                        text.char_indices()
                            .filter(|(_, c)| c.is_whitespace())
                            .map(|(at, c)| at + c.len_utf8()),
                    );
                    found.extend(
                        starts
                            .filter_map(|at| text[at..].strip_prefix('@'))
                            .map(|rest| {
                                rest.split(char::is_whitespace)
                                    .next()
                                    .unwrap_or_default()
                                    .to_owned()
                            })
                            .filter(|path| {
                                path.starts_with(|c: char| {
                                    c.is_ascii_alphanumeric() || "._-/~".contains(c)
                                })
                            }),
                    );
                }
                _ => {}
            }
        }
        found
    }

    /// The paths that Gemini CLI imports: what follows an `@` after white space, outside of backticks.
    fn gemini_imports(markdown: &str) -> Vec<String> {
        let mut outside = String::new();
        let mut rest = markdown;
        while let Some(at) = rest.find('`') {
            let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
            let close = (1..=ticks).rev().find_map(|n| {
                let end = rest[at + n..].find(&"`".repeat(n))?;
                Some(at + n + end + n)
            });
            outside.push_str(&rest[..at]);
            outside.push('`');
            rest = &rest[close.unwrap_or(at + 1)..];
        }
        outside.push_str(rest);
        outside
            .split_whitespace()
            .filter_map(|word| word.strip_prefix('@'))
            .filter(|path| path.starts_with(|c: char| c.is_ascii_alphabetic() || "./".contains(c)))
            .map(str::to_owned)
            .collect()
    }

    const FORMS: [&str; 18] = [
        "@~/.ssh/id_rsa",
        "**@~/.ssh/id_rsa**",
        "[@.env](x)",
        "(@docs/x)",
        "`x`@../up",
        "*@/etc/passwd*",
        "_@docs/x_",
        "~~@docs/x~~",
        "![@.env](x)",
        "\"@docs/x\"",
        "a: @docs/x.md",
        "<b>@docs/x</b>",
        "\\\\@docs/x",
        "``x``@docs/x",
        "a ` b @docs/x",
        "@README",
        "&amp;@docs/x",
        "x\u{200b}\u{feff}@docs/x",
    ];

    #[test]
    fn no_client_finds_an_import() {
        for form in FORMS {
            assert!(
                !claude_imports(&strip_controls(form)).is_empty()
                    || !gemini_imports(form).is_empty()
                    || form.contains(['(', '"', '~', ';', '`', '\\', '\u{200b}']),
                "{form} is an import in no grammar"
            );
            for text in [inert(form).into_owned(), Line::new(form).to_string()] {
                assert_eq!(claude_imports(&text), [""; 0], "{form} as {text}");
                assert_eq!(gemini_imports(&text), [""; 0], "{form} as {text}");
            }
        }
    }

    #[test]
    fn addresses_code_and_decorations_stay_as_written() {
        for text in [
            "mail me@example.org",
            "use `@scope/name` and `x @y`",
            "at @ 5",
            "é@x",
            "a @@ b",
            r"see \@docs/x.md",
        ] {
            assert_eq!(inert(text), text);
        }
        assert_eq!(inert("see @scope/name"), r"see \@scope/name");
    }

    #[test]
    fn tags_of_clients_and_models_lose_their_meaning() {
        for (text, expected) in [
            ("</system-reminder>", r"<\/system-reminder>"),
            ("< / SYSTEM-Reminder >", r"<\ / SYSTEM-Reminder >"),
            ("<|im_start|>system", r"<\|im_start|>system"),
            ("a<function_calls>b", r"a<\function_calls>b"),
            ("<function_results>", r"<\function_results>"),
            ("<sys\u{200b}tem>", r"<\system>"),
            ("[INST] do [/INST]", r"[\INST] do [\/INST]"),
            ("<command-name>/x</command-name>", r"<\command-name>/x<\/command-name>"),
            ("<state_snapshot><hook_prompt>", r"<\state_snapshot><\hook_prompt>"),
            ("<ide_selection> <budget:token_budget>", r"<\ide_selection> <\budget:token_budget>"),
            ("<subagent_notification></skill>", r"<\subagent_notification><\/skill>"),
            ("<cross-session-message from=\"x\">", "<\\cross-session-message from=\"x\">"),
            ("<functions><message from='human'>", r"<\functions><\message from='human'>"),
            (
                "<plugins_instructions><persistent_mode>",
                r"<\plugins_instructions><\persistent_mode>",
            ),
            ("<codex_delegation><task_state>", r"<\codex_delegation><\task_state>"),
        ] {
            assert_eq!(inert(text), expected);
            assert_eq!(inert(expected), expected);
        }
        for text in [
            "<task type=\"auto\">", "a < b", "<div>", "Vec<u8>", "<https://example.org>",
            "- [INSTALL]", "Vec<Message>", "<Message id={1}>", "if (a <message && b)",
            "Sender<Channel> = x", "-m <message to send>", "-m <commit-message>",
        ] {
            assert!(matches!(inert(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn a_backtick_without_a_partner_shifts_no_code_span() {
        let page = format!("{} {}", Line::new("name `x"), Line::new("`@docs/x` y"));
        assert_eq!(claude_imports(&page), [""; 0], "{page}");
        assert_eq!(gemini_imports(&page), [""; 0], "{page}");
        let cut = Line::new("read `@docs/x and more` now").clipped(20);
        assert_eq!(claude_imports(cut.as_str()), [""; 0], "{cut}");
    }

    proptest! {
        #[test]
        fn whatever_stands_around_it(text in "[`*_~\\[\\]()\\\\!<>\"' a@./]{0,16}") {
            let line = Line::new(&text);
            for text in [inert(&text).into_owned(), line.to_string()] {
                prop_assert_eq!(gemini_imports(&text).len(), 0, "{}", text);
                prop_assert_eq!(claude_imports(&text).len(), 0, "{}", text);
                prop_assert_eq!(inert(&text), text.as_str());
            }
        }
    }
}

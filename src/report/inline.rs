//! Renders a line of markdown as safe HTML.
//!
//! Stored text is untrusted, so only the four inline forms that carry meaning in planning files become
//! markup: code, strong, emphasis and strikethrough. Links and images are reduced to their text, and raw HTML
//! is shown as text.

use pulldown_cmark::{Event, Options, Parser, TagEnd};

use crate::text::{clip, one_line, sanitized};

/// Maximum length of a text, in characters: the page gives an overview, the full text is in the stores.
const MAX_TEXT_CHARS: usize = 600;

/// Renders a line of stored text as HTML, which the template may insert without escaping.
pub(crate) fn html(text: &str) -> String {
    let line = clean(text);
    rendered(&line, true).unwrap_or_else(|| escaped(&line))
}

/// Returns a name as plain text, without markup, not escaped.
pub(crate) fn plain(text: &str) -> String {
    let line = clean(text);
    rendered(&line, false).unwrap_or(line)
}

/// Returns a stored text as one line without control characters and secrets, not escaped.
fn clean(text: &str) -> String {
    clip(&one_line(&sanitized(text)), MAX_TEXT_CHARS).into_owned()
}

/// Returns the line as HTML or as plain text, or `None` if it is a heading, a list item or another block, which is shown
/// verbatim.
fn rendered(line: &str, is_html: bool) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    for event in Parser::new_ext(line, Options::ENABLE_STRIKETHROUGH) {
        let (slash, tag) = match &event {
            Event::Start(tag) => ("", tag.to_end()),
            Event::End(tag) => ("/", *tag),
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => {
                let code = is_html && matches!(event, Event::Code(_));
                out.push_str(if code { "<code>" } else { "" });
                out.push_str(&if is_html { escaped(text) } else { text.to_string() });
                out.push_str(if code { "</code>" } else { "" });
                continue;
            }
            Event::SoftBreak | Event::HardBreak => {
                out.push(' ');
                continue;
            }
            _ => return None,
        };
        let element = match tag {
            TagEnd::Strong => "strong",
            TagEnd::Emphasis => "em",
            TagEnd::Strikethrough => "s",
            TagEnd::Paragraph | TagEnd::Link | TagEnd::Image => continue,
            _ => return None,
        };
        if is_html {
            out.push_str(&format!("<{slash}{element}>"));
        }
    }
    // Some markdown, such as a link definition, renders as nothing; then the line itself is shown.
    (!out.is_empty() || line.is_empty()).then_some(out)
}

/// Returns a text with the characters escaped that could open an element, an attribute or an entity.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_inline_forms_become_elements() {
        assert_eq!(
            html("**Never** `rm -rf <dir>`, *really*, ~~maybe~~"),
            "<strong>Never</strong> <code>rm -rf &lt;dir&gt;</code>, <em>really</em>, <s>maybe</s>"
        );
        assert_eq!(html("see [the docs](https://example.com)"), "see the docs");
        assert_eq!(html("[auth]: <needs-key>"), "[auth]: &lt;needs-key&gt;");
        assert_eq!(plain("[API]: https://example.com"), "[API]: https://example.com");
    }

    #[test]
    fn html_in_the_text_is_escaped() {
        assert_eq!(html("<b onclick='x'>a</b>"), "&lt;b onclick=&#39;x&#39;&gt;a&lt;/b&gt;");
        assert_eq!(html("&lt;script&gt;"), "&lt;script&gt;");
        assert_eq!(html("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
    }

    #[test]
    fn names_are_shown_without_markup() {
        assert_eq!(plain("**Sync** of `a_b`"), "Sync of a_b");
        assert_eq!(plain("1. Sync <b>"), "1. Sync <b>");
    }

    #[test]
    fn a_block_is_shown_verbatim() {
        assert_eq!(html("# not a heading"), "# not a heading");
        assert_eq!(html("1. first"), "1. first");
        assert_eq!(html("snake_case_name and 2 * 3 * 4"), "snake_case_name and 2 * 3 * 4");
    }
}

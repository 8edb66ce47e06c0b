//! Builds an answer from the ranked texts: moves corrections ahead of the corrected texts, and drops irrelevant ones.

use std::collections::HashMap;

use rusqlite::Result;

use crate::embedding::VectorTable;
use crate::ranking::{AnswerEvidence, Relevance, TextEvidence, corrects};
use crate::recall::facts::FactHits;
use crate::recall::index::{Index, StoredText, vectors};
use crate::recall::search::{Scan, Scored};

/// Minimum number of texts judged to decide whether anything is relevant.
const MIN_JUDGED: usize = 10;

/// Maximum number of texts from one section.
const MAX_OF_SECTION: usize = 2;

/// A text of the answer.
pub(crate) struct JudgedText {
    pub(crate) scored: Scored,
    pub(crate) text: StoredText,
    pub(crate) relevance: Relevance,
}

/// The best ranked texts, judged for relevance.
pub(crate) struct RecallAnswer {
    /// The returned texts, best first.
    pub(crate) texts: Vec<JudgedText>,
    /// Number of best texts left out as irrelevant.
    pub(crate) withheld: usize,
    /// Whether there are more texts than those returned.
    pub(crate) truncated: bool,
    /// Evidence for the answer as a whole.
    pub(crate) verdict: AnswerEvidence,
}

/// How much of the result is returned.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Maximum number of texts.
    pub(crate) limit: usize,
    /// Whether irrelevant texts are returned too.
    pub(crate) include_irrelevant: bool,
}

impl RecallAnswer {
    /// Judges the best texts.
    pub(crate) fn judge(
        index: &Index,
        scan: &Scan,
        ranked: Vec<Scored>,
        facts: &FactHits,
        extent: Extent,
    ) -> Result<Self> {
        let limit = extent.limit;
        let depth = limit.max(MIN_JUDGED);
        let count = ranked.len();
        let mut best = Vec::with_capacity(depth.min(count));
        let mut sections: HashMap<(usize, usize), usize> = HashMap::new();
        for scored in ranked {
            let unit = &scan.units[scored.unit];
            let of_section = sections.entry((unit.file, unit.section)).or_default();
            *of_section += 1;
            if *of_section > MAX_OF_SECTION {
                continue;
            }
            let text = match facts.text(unit) {
                Some(text) => text,
                None => index.text(unit.id)?,
            };
            best.push((scored, text));
            if best.len() == depth {
                break;
            }
        }
        move_corrections_first(scan, &mut best);
        let words: Vec<&str> = scan.terms().iter().map(|term| term.word.as_str()).collect();
        let query_vector = VectorTable::built_in().vector(&words.join(" "));
        let similarity = |text: &StoredText| {
            let similarities =
                vectors(&text.headings, &text.body).map(|vector| query_vector.dot(&vector));
            f64::from(similarities.fold(0.0, f32::max))
        };
        let evidence: Vec<TextEvidence> = best
            .iter()
            .map(|(scored, text)| TextEvidence {
                cosine: scored.cosine,
                ..scan.evidence(scored.unit, similarity(text))
            })
            .collect();
        // A query of symbols only is matched verbatim: every match is exact.
        let is_exact = scan.terms().is_empty();
        let judged = scan.question.relevance(&evidence);
        let mut texts: Vec<JudgedText> = best
            .into_iter()
            .zip(judged)
            .map(|((scored, text), relevance)| JudgedText {
                scored,
                text,
                relevance: if is_exact { Relevance::High } else { relevance },
            })
            .collect();
        let judged_count = texts.len();
        if !extent.include_irrelevant {
            texts.retain(|text| text.relevance == Relevance::High);
        }
        let withheld = judged_count - texts.len();
        let relevant = texts.len();
        texts.truncate(limit);
        Ok(Self {
            truncated: relevant > limit || (relevant > 0 && count > depth),
            verdict: scan.question.verdict(&evidence),
            texts,
            withheld,
        })
    }
}

/// Moves each correction before the first text that it corrects.
fn move_corrections_first(scan: &Scan, best: &mut [(Scored, StoredText)]) {
    let date = |scored: &Scored| scan.units[scored.unit].date;
    for at in 1..best.len() {
        let (before, after) = best.split_at(at);
        let Some((correction, text)) = after.first() else {
            break;
        };
        let is_older = |scored: &Scored| date(scored) <= date(correction);
        let corrected = before
            .iter()
            .position(|(scored, wrong)| is_older(scored) && corrects(&text.body, &wrong.body));
        if let Some(corrected) = corrected {
            let score = best[corrected].0.score;
            best[corrected..=at].rotate_right(1);
            best[corrected].0.score = score;
        }
    }
}

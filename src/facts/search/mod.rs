//! Searches a user's facts by words and vectors.
//!
//! ```text
//! query ─┬─ words: FTS5, porter stems ─┬─ ranked by `search`, with the facts before and after in the session;
//!        └─ vectors: one per fact ─────┘  the encoder reads the best again
//! ```
//!
//! The three best facts are returned whatever the evidence; further ones that are irrelevant to the query are withheld,
//! unless all are requested.
//!
//! Every search is restricted to the rows of one user. If vectors are unavailable, the search is lexical only, and the
//! result says so.

mod rows;

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use rusqlite::params;
use serde::Serialize;

use crate::clock::parse_timestamp;
use crate::error::Result;
use crate::facts::search::rows::{NOT_COMPARED, Rows};
use crate::facts::vectors::QueryVector;
use crate::facts::{Fact, Facts, UserId, json, vectors};
use crate::project::{Fusion, Project};
use crate::search::{
    Embedder, Encoder, Language, Question, Ranked, Ranking, ReadText, Relevance, Term, best,
    content_words, cosines, encoded, is_wordless, quoted, rank, terms,
};
use crate::text::{hexadecimal, is_unspaced, is_zero, join, word_enum, words_in};

/// Length of the lexical and vector rankings that the seed method combines, and that are measured.
pub(crate) const TOP: usize = 20;

/// Number of best facts that are returned whether or not they are relevant: who asks for facts can see for themselves.
const ALWAYS_RETURNED: usize = 3;

/// Minimum number of facts judged to decide whether anything is relevant.
const JUDGED: usize = 10;

/// Number of rows read beyond the limit, so that the latest of equal scores are found.
const TIES: usize = 64;

/// Number of facts that the encoder reads for a question, and the similarity at which one is shown that nobody asked for.
const MAX_READ: usize = 300;
const MIN_COSINE: f64 = 0.3;

/// Creates the table of the encoder's vectors, keyed by the row of the fact.
const ENCODED: &str = include_str!("../encoded.sql");

/// Weights of words, vectors and recency in the seed method, and the age in days at which recency has halved.
const SEED: [f64; 3] = [0.45, 0.45, 0.10];
const HALF_LIFE: f64 = 30.0;

/// A row by its index, with its score.
type Scored = (usize, f64, Components);

/// Returns the facts of a user that match a query best.
pub fn retrieve(
    facts: &Facts,
    user: &UserId,
    query: &FactQuery,
    embedder: &Embedder,
) -> Result<Retrieved> {
    if query.selection != Selection::Candidates && is_wordless(&query.text) {
        let (user, method) = (user.clone(), query.method);
        return Ok(Retrieved { user, method, is_wordless: true, ..Retrieved::default() });
    }
    let asked = match query.selection {
        Selection::Candidates => query.text.clone(),
        _ => without_name(facts, user, &query.text)?,
    };
    let query = &FactQuery { text: asked, ..query.clone() };
    let vector = match query.method {
        Method::Lexical => Ok(QueryVector::default()),
        _ => vectors::of_query(facts, user, query, embedder),
    };
    let mut because = vector.as_ref().err().map(ToString::to_string);
    // All reads use one snapshot of the database.
    let snapshot = facts.connection.unchecked_transaction()?;
    let is_of_model = vectors::model(facts)? == embedder.model();
    let QueryVector { vector, near } = vector.unwrap_or_default();
    let in_file = vector.as_ref().filter(|_| is_of_model);
    let mut rows = Rows::searchable(facts, user, query.project.as_deref(), in_file)?;
    rows.set_meaning(facts, user, near)?;
    let is_lacking =
        vector.is_some() && !rows.known.meaning.iter().any(|near| *near > NOT_COMPARED);
    let is_degraded = is_lacking || because.is_some();
    let method = if is_degraded { Method::Lexical } else { query.method };
    rows.known.is_by_endpoint = method != Method::Lexical && !embedder.is_built_in();
    let terms = search_words(facts, user, &query.text, &mut rows)?;
    let search = Search { facts, user, query, rows, terms };
    let mut result = search.result(method)?;
    if is_lacking && (!result.hits.is_empty() || result.withheld > 0) {
        because = Some("no fact of the user has a vector of this model yet".to_owned());
    }
    if because.is_none() {
        result.method = query.method;
    }
    // The blocks and the encoder's vectors are kept, unless the database cannot be written.
    if !facts.dry_run {
        search.rows.pack(facts, user);
        let _is_kept = snapshot.commit().is_ok();
    }
    Ok(Retrieved { degraded: because.is_some(), degraded_because: because, ..result })
}

/// The keys under which the user's name is stored.
pub(crate) const NAME_KEYS: [&str; 2] = ["name", "identity.name"];

/// Returns a question without the words of the user's own name, by which the fact that says it would answer each question
/// about the user; all of it, if nothing else is asked for.
pub(crate) fn without_name(facts: &Facts, user: &UserId, text: &str) -> Result<String> {
    let sql = "SELECT value_text FROM facts \
               WHERE user_id = ?1 AND key IN (?2, ?3) AND status = 'active'";
    let names: Vec<String> = facts.column(sql, params![user, NAME_KEYS[0], NAME_KEYS[1]])?;
    let names: Vec<&str> = names.iter().flat_map(|name| words_in(name)).collect();
    let is_other = |word: &&str| words_in(word).next().is_none_or(|first| !names.contains(&first));
    let rest = join(text.split_whitespace().filter(is_other), " ");
    // `What is Mia's name?`
    let is_name = |word: &String| word == "name" || word == "called";
    let is_empty = content_words(&rest, Language::detect(&rest)).iter().all(is_name);
    Ok(if is_empty { text.to_owned() } else { rest })
}

/// A search in one snapshot of the database.
struct Search<'a> {
    facts: &'a Facts,
    user: &'a UserId,
    query: &'a FactQuery,
    rows: Rows,
    /// The terms of the query, each with the number of rows that contain it.
    terms: Vec<(Term, usize)>,
}

impl Search<'_> {
    fn result(&self, method: Method) -> Result<Retrieved> {
        let is_judged = self.query.selection != Selection::Candidates;
        // Relevance cannot be judged from just one or two.
        let depth = if is_judged { self.query.limit.max(JUDGED) } else { self.query.limit };
        let is_ranked = method == Method::Fused || is_judged;
        let ranking = is_ranked.then(|| self.ranking(is_judged && self.query.uses_encoder));
        let ranking = ranking.transpose()?;
        let mut scored = self.scored(method, ranking.as_ref(), depth.saturating_add(TIES));
        // Recency may still change the order of the seed method.
        let last = depth.checked_sub(1).filter(|_| method != Method::Seed);
        if let Some(least) = last.and_then(|last| scored.get(last)).map(|last| last.1) {
            scored.retain(|(_, score, _)| *score >= least);
        }
        let mut found = self.found(&scored)?;
        let hit = |(index, mut score, mut components): Scored| {
            let fact = found.remove(&self.rows.seqs[index])?;
            if method == Method::Seed {
                components.recency = SEED[2] * recency(&fact, self.facts.clock.now());
                score += components.recency;
            }
            let judged = ranking.as_ref().filter(|_| is_judged);
            let relevance = judged.map(|ranking| ranking.text(index).relevance);
            Some(FactHit { score, relevance, components, fact })
        };
        let mut hits: Vec<FactHit> = scored.into_iter().filter_map(hit).collect();
        // The fact that a proposal contests comes before it, however little it matches.
        let mut lifted: HashMap<String, f64> = HashMap::new();
        for hit in &hits {
            if let Some(id) = &hit.fact.contests {
                let score = lifted.entry(id.clone()).or_insert(hit.score);
                *score = score.max(hit.score);
            }
        }
        let score = |hit: &FactHit| {
            lifted.get(&hit.fact.fact_id).map_or(hit.score, |proposal| proposal.max(hit.score))
        };
        // Equal scores are ordered latest first, since row order differs between devices.
        hits.sort_by(|a, b| {
            let is_proposal = |hit: &FactHit| hit.fact.contests.is_some();
            let proposed = is_proposal(a).cmp(&is_proposal(b));
            let later = b.fact.last_touched().cmp(a.fact.last_touched());
            let by_id = a.fact.fact_id.cmp(&b.fact.fact_id);
            score(b).total_cmp(&score(a)).then(proposed).then(later).then(by_id)
        });
        hits.truncate(depth);
        let found = hits.len();
        if self.query.selection == Selection::Relevant {
            let mut rank = 0;
            hits.retain(|hit| {
                rank += 1;
                rank <= ALWAYS_RETURNED || hit.relevance == Some(Relevance::High)
            });
        }
        let withheld = found - hits.len();
        hits.truncate(self.query.limit);
        let evidence = ranking.map_or(0.0, |ranking| ranking.evidence);
        let user = self.user.clone();
        Ok(Retrieved { user, method, hits, withheld, evidence, ..Retrieved::default() })
    }

    /// Scores the best rows that a method finds, best first, without the recency of the seed method.
    fn scored(&self, method: Method, ranking: Option<&Ranking<'_>>, count: usize) -> Vec<Scored> {
        let (words, near) = (&self.rows.known.words, &self.rows.known.meaning);
        let by_words = |count| {
            best(words.iter().copied(), count).into_iter().filter(|index| words[*index] > 0.0)
        };
        let by_meaning = |count| {
            let all = best(near.iter().copied().map(f64::from), count).into_iter();
            all.filter(|index| near[*index] > NOT_COMPARED)
        };
        let scored = |index: usize, lexical: f64, vector: f64| {
            let cosine = Some(near[index]).filter(|near| *near > NOT_COMPARED).map(f64::from);
            let bm25 = words[index];
            let components = Components { bm25, cosine, lexical, vector, ..Components::default() };
            (index, lexical + vector, components)
        };
        match method {
            Method::Lexical => {
                by_words(count).map(|index| scored(index, words[index], 0.0)).collect()
            }
            Method::Vector => {
                by_meaning(count).map(|index| scored(index, 0.0, near[index].into())).collect()
            }
            Method::Seed => {
                let by_words: Vec<usize> = by_words(TOP).collect();
                let by_meaning: Vec<usize> = by_meaning(TOP).collect();
                let either: BTreeSet<usize> = by_words.iter().chain(&by_meaning).copied().collect();
                // Of the first by words, the worst has 0, unless there are others, and the best the full weight.
                let score = |index: Option<&usize>| index.map_or(0.0, |index| words[*index]);
                let last = by_words.last().filter(|_| either.len() == by_words.len());
                let (most, least) = (score(by_words.first()), score(last));
                let of = |index: usize| {
                    let is_scored = most > least && by_words.contains(&index);
                    let lexical = SEED[0] * (words[index] - least) / (most - least);
                    let lexical = if is_scored { lexical } else { 0.0 };
                    let is_near = by_meaning.contains(&index);
                    let vector = if is_near { near[index].max(0.0) } else { 0.0 };
                    scored(index, lexical, SEED[1] * f64::from(vector))
                };
                either.into_iter().map(of).collect()
            }
            Method::Fused => {
                let is_found = |one: &Ranked| one.score > 0.0 || near[one.index] > 0.0;
                let of = |Ranked { index, score, parts, cosine, .. }| {
                    let components = Components {
                        late: parts.late,
                        encoder: parts.encoder,
                        encoder_cosine: cosine,
                        neighbours: parts.neighbours,
                        question: parts.question,
                        ..scored(index, parts.words, parts.meaning).2
                    };
                    (index, score, components)
                };
                let all = ranking.into_iter().flat_map(Ranking::best);
                all.filter(is_found).take(count).map(of).collect()
            }
        }
    }

    /// Ranks every row by words, meaning and neighbours in the session.
    fn ranking(&self, uses_encoder: bool) -> Result<Ranking<'_>> {
        let question = Question::new(&self.query.text, &self.terms, self.rows.seqs.len());
        let read = |index| self.read(index);
        rank(&question, &self.rows.known, uses_encoder, read, |encoder, texts| {
            let texts = texts.iter().map(|(index, text)| (self.rows.seqs[*index], *text));
            encoded(&self.facts.connection, ENCODED, encoder, &texts.collect::<Vec<_>>())
        })
    }

    /// Returns a fact under its key in words.
    fn read(&self, index: usize) -> Result<ReadText> {
        let sql = "SELECT key, value_text FROM facts WHERE seq = ?1 AND user_id = ?2";
        let values = (self.rows.seqs[index], self.user.as_str());
        let found: Option<(String, String)> = self.facts.optional(sql, values)?;
        Ok(found.map(|(key, value)| text(&key, value)).unwrap_or_default())
    }

    /// Returns the facts of these rows, by row.
    fn found(&self, scored: &[Scored]) -> Result<HashMap<i64, Fact>> {
        let rows: Vec<i64> = scored.iter().map(|one| self.rows.seqs[one.0]).collect();
        let sql = format!(
            "SELECT {}, seq FROM facts \
             WHERE user_id = ?1 AND seq IN (SELECT value FROM json_each(?2))",
            Fact::COLUMNS.join(", ")
        );
        let read = |row: &rusqlite::Row<'_>| Ok((row.get("seq")?, Fact::try_from(row)?));
        let found = self.facts.rows(&sql, params![self.user, json(&rows)?], read)?;
        Ok(found.into_iter().collect())
    }
}

/// Returns the recency of the seed method: 1 for a fact of now, half of it for each half-life before.
fn recency(fact: &Fact, now: DateTime<Utc>) -> f64 {
    parse_timestamp(fact.last_touched()).map_or(0.0, |then| {
        let days = now.signed_duration_since(then).as_seconds_f64() / (24.0 * 60.0 * 60.0);
        0.5_f64.powf(days.max(0.0) / HALF_LIFE)
    })
}

/// Returns a fact as it is read: its value under its key in words.
fn text(key: &str, value: String) -> ReadText {
    ReadText { heading: vectors::words_of_key(key), body: value }
}

/// Judges each fact separately against a question; returns the evidence for the relevant ones.
///
/// If the encoder reads them, a fact needs no word of the question.
pub(crate) fn judge_each(
    store: &Facts,
    user: &UserId,
    project: Option<&str>,
    text: &str,
    facts: &[Fact],
    uses_encoder: bool,
) -> Result<Vec<Option<f64>>> {
    let snapshot = store.connection.unchecked_transaction()?;
    let mut rows = Rows::searchable(store, user, project, None)?;
    let terms = search_words(store, user, text, &mut rows)?;
    let question = Question::new(text, &terms, rows.seqs.len());
    let texts = facts.iter().map(|fact| self::text(&fact.key, fact.value_text.clone()));
    let texts: Vec<ReadText> = texts.collect();
    let is_read = uses_encoder && question.is_understood && texts.len() <= MAX_READ;
    let is_read = is_read && !terms.is_empty();
    let mut near = Vec::new();
    if let Some(encoder) = is_read.then(Encoder::built_in).flatten() {
        // No vectors are kept for a fact that was changed or deleted after it was listed.
        let sql = "SELECT coalesce(max(seq), 0) FROM facts \
                   WHERE fact_id = ?1 AND key = ?2 AND value_text = ?3";
        let id = |fact: &Fact| store.value(sql, [&fact.fact_id, &fact.key, &fact.value_text]);
        let ids: Vec<i64> = facts.iter().map(id).collect::<Result<_>>()?;
        let texts: Vec<(i64, &ReadText)> = ids.into_iter().zip(&texts).collect();
        near = cosines(encoder, text, &encoded(&store.connection, ENCODED, encoder, &texts));
    }
    let _is_kept = !store.dry_run && snapshot.commit().is_ok();
    let evidence = texts.iter().enumerate().map(|(index, fact)| {
        let near = near.get(index).map(|cosine| cosine / MIN_COSINE).filter(|near| *near >= 1.0);
        near.or_else(|| question.judge(fact))
    });
    Ok(evidence.collect())
}

word_enum! {
    /// A search method.
    #[derive(Default, Hash)]
    pub enum Method {
        /// Words only.
        Lexical = "lexical",
        /// Vectors only.
        Vector = "vector",
        /// The first 20 of each: lexical 0.45, vectors 0.45, recency 0.10.
        Seed = "seed",
        /// The one score of `search`.
        #[default]
        Fused = "fused",
    }
}

impl From<Fusion> for Method {
    fn from(fusion: Fusion) -> Self {
        match fusion {
            Fusion::Own => Self::Fused,
            Fusion::Seed => Self::Seed,
        }
    }
}

/// Selects which of the facts found are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Selection {
    /// The best three, and further ones that are relevant to the query.
    #[default]
    Relevant,
    /// The nearest, each with its relevance.
    All,
    /// The nearest, without relevance: conflict resolution needs every possible contradiction.
    Candidates,
}

/// A search query.
#[derive(Clone, Debug)]
pub struct FactQuery {
    /// The text as a person wrote it; it has no operators.
    pub text: String,
    /// Maximum number of facts.
    pub limit: usize,
    /// The project whose facts are included; those without a project always are.
    pub project: Option<String>,
    /// The search method.
    pub method: Method,
    /// Which of the facts found are returned.
    pub selection: Selection,
    /// Whether the encoder reads the best facts again; it never reads candidates.
    pub uses_encoder: bool,
}

impl FactQuery {
    /// Returns a query for facts of no project that are relevant to a text, found as the settings say.
    pub fn new(project: &Project, text: &str, limit: usize) -> Self {
        let method = Method::from(project.settings.facts.fusion);
        Self {
            selection: Selection::Relevant,
            uses_encoder: project.settings.encoder,
            ..Self::candidates(text, None, limit, method)
        }
    }

    /// Returns a query for the facts nearest to a text, in a project or in none, without regard to relevance.
    pub(crate) fn candidates(
        text: &str,
        project: Option<&str>,
        limit: usize,
        method: Method,
    ) -> Self {
        Self {
            text: text.to_owned(),
            limit,
            project: project.map(str::to_owned),
            method,
            selection: Selection::Candidates,
            uses_encoder: false,
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Retrieved {
    /// The user.
    pub user: UserId,
    /// The search method used.
    pub method: Method,
    /// Whether vectors were unavailable, so that the search was lexical only.
    pub degraded: bool,
    /// The reason why they were unavailable.
    pub degraded_because: Option<String>,
    /// The facts, best first.
    pub hits: Vec<FactHit>,
    /// Whether the query has letters, but no word to search for, such as "the".
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_wordless: bool,
    /// Number of irrelevant facts that were withheld.
    #[serde(skip_serializing_if = "is_zero")]
    pub withheld: usize,
    /// The evidence that one of them is an answer, if they were judged; 1 is just enough.
    #[serde(skip)]
    pub evidence: f64,
}

/// A fact found by a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactHit {
    /// The score, comparable within one result.
    pub score: f64,
    /// The relevance to the query, or `None` if it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<Relevance>,
    /// The components of the score.
    pub components: Components,
    /// The fact.
    pub fact: Fact,
}

/// The components of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Components {
    /// BM25 score of the words; 0 if none is shared.
    pub bm25: f64,
    /// Cosine similarity, from -1 to 1, or `None` if no vectors were compared.
    pub cosine: Option<f64>,
    /// Contribution of the words to the score.
    pub lexical: f64,
    /// Contribution of the vectors.
    pub vector: f64,
    /// Contribution of the neighbours in the session.
    pub neighbours: f64,
    /// Contribution of late interaction, each word of the query with the words of a passage.
    pub late: f64,
    /// Contribution of the encoder.
    pub encoder: f64,
    /// Similarity to the query by the encoder, if it read the fact.
    pub encoder_cosine: Option<f64>,
    /// Deduction for a fact that is a question.
    pub question: f64,
    /// Contribution of recency.
    pub recency: f64,
}

/// BM25 weights of the columns; the user's column only restricts the query.
const WEIGHTS: &str = "0.0, 1.0, 1.0, 1.0";

/// Column filter: words match in every column except the user's.
const TEXT: &str = "{key value_text source_excerpt}";

/// Minimum length of a stem used as a prefix, in characters: shorter ones match unrelated words.
const MIN_STEM_LENGTH: usize = 3;

/// Score of a matching character or pair: less than that of a rare word.
const FOUND: f64 = 2.0;

/// Scores the rows by BM25 for the words of a text; returns its terms, each with the number of rows that contain it.
fn search_words(
    facts: &Facts,
    user: &UserId,
    text: &str,
    rows: &mut Rows,
) -> Result<Vec<(Term, usize)>> {
    let language = Language::detect(text);
    // For each word, the index reads all rows of the user to leave out others: not worth it if there are few of those.
    let all: usize = facts.value("SELECT coalesce(max(seq), 0) FROM facts", [])?;
    let owner = hexadecimal(user.as_str().as_bytes()).to_uppercase();
    let of_user =
        if rows.seqs.len() < all / 2 { format!("owner : \"{owner}\" AND ") } else { String::new() };
    let sql = format!(
        "SELECT rowid, -bm25(facts_fts, {WEIGHTS}) FROM facts_fts WHERE facts_fts MATCH ?1"
    );
    let mut found: Vec<(Term, Vec<(i64, f64)>)> = Vec::new();
    for term in terms(text, &[]) {
        let containing = if term.word.contains(is_unspaced) {
            containing(facts, user, &term.word)?
        } else {
            let forms = forms(&term.word, language);
            facts.list(&sql, [format!("{of_user}({TEXT} : ({forms}))")])?
        };
        found.push((term, containing));
    }
    // Those of others are none of these rows.
    let indexes = rows.indexes(found.iter().flat_map(|(_, rows)| rows).map(|(seq, _)| *seq));
    let counted = found.into_iter().map(|(term, found)| {
        let found = found.iter().filter_map(|(seq, score)| Some((indexes.get(seq)?, score)));
        (term, found.map(|(index, score)| rows.known.words[*index] += score).count())
    });
    Ok(counted.collect())
}

/// Returns the FTS5 expression for a word. The index has English stems; a word of another language is also matched by its
/// stem, as a prefix.
fn forms(word: &str, language: Language) -> String {
    let has_no_english_stem = language != Language::ENGLISH || !word.is_ascii();
    let stem = language.stem(word);
    let is_usable_prefix = stem != word && stem.chars().count() >= MIN_STEM_LENGTH;
    if has_no_english_stem && is_usable_prefix {
        format!("{} OR {} *", quoted(word), quoted(&stem))
    } else {
        quoted(word)
    }
}

/// Returns the rows that contain a character or a pair of them in a script without spaces, which the index takes for parts
/// of a word.
fn containing(facts: &Facts, user: &UserId, characters: &str) -> Result<Vec<(i64, f64)>> {
    let sql = "SELECT seq, ?3 FROM facts WHERE user_id = ?1 \
               AND instr(lower(key || ' ' || value_text || ' ' || source_excerpt), ?2) > 0";
    facts.list(sql, params![user, characters, FOUND])
}

#[cfg(test)]
mod tests;

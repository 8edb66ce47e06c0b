//! Compares the tree of a past commit with the current one, by a single diff.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chrono::NaiveDate;
use serde::Serialize;

use crate::error::Result;
use crate::git::{ChangedFile, Git, Object};
use crate::patterns::Rate;
use crate::patterns::staleness::tree::{Tree, ends_in, folders};
use crate::project::manifest;
use crate::storage::read;

/// Maximum number of manifests whose dependencies are compared, those of the top folders first.
const MAX_MANIFESTS: usize = 40;

/// Frameworks, which shape how code is written, not only what it calls; test and build tools do not count.
const FRAMEWORKS: &str = "@angular/core @nestjs/core @prisma/client @remix-run/react @sveltejs/kit @tauri-apps/api \
    actix-web aiohttp astro axum bevy diesel dioxus django djangorestframework drizzle-orm electron expo express \
    fastapi fastify flask gatsby hono iced koa leptos lit litestar mongoose next nuxt preact prisma pyramid qwik \
    react react-native rocket sanic sea-orm sequelize solid-js sqlalchemy sqlmodel sqlx starlette streamlit svelte \
    tauri tonic tornado typeorm vue warp yew \
    github.com/gin-gonic/gin github.com/labstack/echo github.com/gofiber/fiber github.com/go-chi/chi \
    github.com/gorilla/mux gorm.io/gorm entgo.io/ent google.golang.org/grpc github.com/charmbracelet/bubbletea";

/// A commit and its date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommitRef {
    /// The abbreviated commit hash.
    pub commit: String,
    /// Its date, in UTC.
    pub date: Option<NaiveDate>,
}

/// The changes to a project's tree since a commit. Top-level files and folders whose names begin with a dot
/// are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Structure {
    /// The commit that the current tree is compared with.
    pub since: CommitRef,
    /// The share of the old files that still exist under the same path.
    pub files: Rate,
    /// The share of the old folders that still exist.
    pub folders: Rate,
    /// Always false: the figures are exact.
    pub is_estimated: bool,
    /// Added manifests.
    pub manifests_added: Vec<String>,
    /// Removed manifests.
    pub manifests_removed: Vec<String>,
    /// Added dependencies.
    pub dependencies_added: Vec<String>,
    /// Removed dependencies.
    pub dependencies_removed: Vec<String>,
    /// The frameworks among the added and removed dependencies.
    pub frameworks: Vec<String>,
    /// Whether less than half of the files or folders survives, or a framework was added or removed.
    pub has_changed: bool,
}

/// What changed since a commit.
pub(crate) struct Diff {
    pub(crate) structure: Structure,
    /// The old and the new path of every file that moved.
    renames: Vec<(String, String)>,
}

impl Diff {
    pub(crate) fn new(since: CommitRef, hash: &str, git: &Git, tree: &Tree) -> Result<Self> {
        let changed = git.changes_since(hash)?;
        let structure = Structure::compare(since, hash, &changed, git, tree)?;
        let renames = changed.into_iter().filter_map(|file| Some((file.from?, file.path)));
        Ok(Self { structure, renames: renames.collect() })
    }

    /// Returns the new path of a file, or of a folder most of whose files moved alike.
    pub(crate) fn new_path(&self, path: &str) -> Option<&str> {
        let file = self.renames.iter().find(|(from, _)| ends_in(from, path));
        if let Some((_, to)) = file {
            return Some(to);
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (from, to) in &self.renames {
            let above = folders(from).find(|folder| ends_in(folder, path));
            let target = above.and_then(|above| to.strip_suffix(&from[above.len()..]));
            if let Some(target) = target {
                *counts.entry(target).or_default() += 1;
            }
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(target, _)| target)
    }
}

impl Structure {
    fn compare(
        since: CommitRef,
        hash: &str,
        changed: &[ChangedFile],
        git: &Git,
        tree: &Tree,
    ) -> Result<Self> {
        let is_counted = |path: &&str| !path.starts_with('.');
        let added = |file: &'_ ChangedFile| matches!(file.status, 'A' | 'R' | 'C');
        let added: HashSet<&str> = changed
            .iter()
            .filter(|file| added(file))
            .map(|file| file.path.as_str())
            .filter(is_counted)
            .collect();
        let removed = changed.iter().filter_map(|file| match file.status {
            'D' => Some(file.path.as_str()),
            'R' => file.from.as_deref(),
            _ => None,
        });
        let removed: Vec<&str> = removed.filter(is_counted).collect();
        let now: Vec<&str> = tree.files().iter().map(String::as_str).filter(is_counted).collect();
        let kept: Vec<&str> = now.iter().copied().filter(|path| !added.contains(path)).collect();
        let files = Rate { count: kept.len(), of: kept.len() + removed.len() };
        let folders_now: HashSet<&str> = now.iter().flat_map(|path| folders(path)).collect();
        let old = kept.iter().chain(&removed).flat_map(|path| folders(path));
        let folders =
            Rate::measure(old.collect::<HashSet<_>>(), |folder| folders_now.contains(folder));
        let manifests = |paths: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            let mut found: Vec<String> =
                paths.filter(|path| manifest::is_manifest(path)).map(str::to_owned).collect();
            found.sort();
            found
        };
        let manifests_added = manifests(&mut added.iter().copied());
        let manifests_removed = manifests(&mut removed.iter().copied());
        let edited =
            changed.iter().filter(|file| file.status == 'M').map(|file| file.path.as_str());
        let edited = manifests(&mut edited.filter(is_counted));
        let then_read = [&manifests_removed[..], &edited].concat();
        let (mut then, mut now_has) = (BTreeSet::new(), BTreeSet::new());
        let mut current = manifests(&mut now.iter().copied());
        current.sort_by_key(|path| path.matches('/').count());
        let had_manifest =
            !then_read.is_empty() || current.iter().any(|path| !manifests_added.contains(path));
        // A project's first manifest does not count as a change.
        for path in current.into_iter().take(MAX_MANIFESTS).filter(|_| had_manifest) {
            let text = read::text(&tree.top.join(&path)).ok().flatten();
            let own =
                text.map(|text| manifest::dependencies(&path, &text.value)).unwrap_or_default();
            if !manifests_added.contains(&path) && !edited.contains(&path) {
                then.extend(own.iter().cloned());
            }
            now_has.extend(own);
        }
        if let Some(objects) = git.objects()?.filter(|_| !then_read.is_empty()) {
            let old: Vec<&String> = then_read.iter().take(MAX_MANIFESTS).collect();
            let names: Vec<String> = old.iter().map(|path| format!("{hash}:{path}")).collect();
            for (path, object) in old.iter().zip(objects.read(&names)?) {
                if let Some(Object::Blob(bytes)) = object {
                    then.extend(manifest::dependencies(path, &String::from_utf8_lossy(&bytes)));
                }
            }
        }
        let dependencies_added: Vec<String> = now_has.difference(&then).cloned().collect();
        let dependencies_removed: Vec<String> = then.difference(&now_has).cloned().collect();
        let came_and_went = dependencies_added.iter().chain(&dependencies_removed);
        let frameworks: Vec<String> =
            came_and_went.filter(|name| is_framework(name)).cloned().collect();
        let is_half_gone = [files, folders].iter().any(|rate| rate.count * 2 < rate.of);
        Ok(Self {
            since,
            files,
            folders,
            is_estimated: false,
            manifests_added,
            manifests_removed,
            dependencies_added,
            dependencies_removed,
            has_changed: is_half_gone || !frameworks.is_empty(),
            frameworks,
        })
    }

    /// Returns what has changed, with figures; `None` if the structure has not changed enough.
    pub fn reason(&self) -> Option<String> {
        if !self.has_changed {
            return None;
        }
        let mut parts = Vec::new();
        for (rate, what) in [(self.files, "files"), (self.folders, "folders")] {
            if rate.count * 2 < rate.of {
                let percent = rate.percent().unwrap_or_default();
                parts.push(format!("{} of {} {what} ({percent} %) remain", rate.count, rate.of));
            }
        }
        for framework in &self.frameworks {
            let is_added = self.dependencies_added.contains(framework);
            parts.push(format!("{framework} {}", if is_added { "added" } else { "removed" }));
        }
        let CommitRef { commit, date } = &self.since;
        let date = date.map(|date| format!(", {date}")).unwrap_or_default();
        Some(format!("structure changed since {commit}{date}: {}", parts.join(", ")))
    }
}

fn is_framework(name: &str) -> bool {
    let version =
        name.rsplit_once("/v").filter(|(_, version)| version.bytes().all(|b| b.is_ascii_digit()));
    let name = version.map_or(name, |(path, _)| path);
    FRAMEWORKS.split(' ').any(|known| known == name)
}

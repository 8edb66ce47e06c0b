"""The manifests that stand in the repository, because clients install them from a checkout; each names the version."""

import json

from project import ROOT, Project, fail

MANIFESTS = [
    "plugin/.claude-plugin/plugin.json",
    "plugin/.codex-plugin/plugin.json",
    "gemini-extension.json",
]


def check(project: Project) -> str:
    """Compares the version of each manifest with Cargo.toml's."""
    for path in MANIFESTS:
        stated = json.loads((ROOT / path).read_text()).get("version")
        if stated != project.version:
            fail(f"{path} names version {stated}, Cargo.toml {project.version}", f"change {path}")
    return f"{len(MANIFESTS)} manifests name {project.version}"

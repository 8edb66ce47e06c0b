"""What points at a published release: the Homebrew formula, the install script and the MCP registry's entry."""

import json
from pathlib import Path

from npm import HERE
from project import TARGETS, Project, archive_name, fail

# What `uname -s` and `uname -m` say, and the target that runs there.
PLATFORMS = {
    "Linux/x86_64": "x86_64-unknown-linux-musl",
    "Linux/aarch64": "aarch64-unknown-linux-musl",
    "Darwin/x86_64": "x86_64-apple-darwin",
    "Darwin/arm64": "aarch64-apple-darwin",
}


def checksum(project: Project, target: str, archives: Path) -> str:
    """Returns the checksum that was written beside a target's archive."""
    file = archives / f"{archive_name(project, target)}.sha256"
    if not file.exists():
        fail(f"{file.name} is missing", "build the archives of all platforms first")
    return file.read_text().split()[0]


def write_formula(project: Project, archives: Path, out: Path) -> Path:
    """Writes the Homebrew formula."""
    text = (HERE / "homebrew" / "annals.rb.in").read_text()
    for target in PLATFORMS.values():
        text = text.replace(f"@URL {target}@", project.download(archive_name(project, target)))
        text = text.replace(f"@SHA256 {target}@", checksum(project, target, archives))
    return written(out / "annals.rb", filled(project, text))


def write_install_script(project: Project, archives: Path, out: Path) -> Path:
    """Writes the install script for the platforms whose archives are here."""
    cases = []
    for system, target in PLATFORMS.items():
        if (archives / archive_name(project, target)).exists():
            cases.append(f'  {system}) target={target} expected={checksum(project, target, archives)} ;;')
    if not cases:
        fail("there is no archive to install", "build one first: packaging/release.py archive")
    text = (HERE / "install.sh.in").read_text().replace("@PLATFORMS@", "\n".join(cases))
    script = written(out / "install.sh", filled(project, text))
    script.chmod(0o755)
    return script


def write_registry_entry(project: Project, out: Path) -> Path:
    """Writes server.json, the entry in the registry of MCP servers."""
    entry = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": project.mcp_name(),
        "title": project.name,
        "description": project.description,
        "version": project.version,
        "repository": {"url": project.published_at(), "source": "github"},
        "packages": [
            {
                "registryType": "npm",
                "identifier": project.npm_name(),
                "version": project.version,
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }
    return written(out / "server.json", json.dumps(entry, indent=2) + "\n")


def filled(project: Project, text: str) -> str:
    """Returns a template with the project's own fields filled in."""
    fields = {
        "DESCRIPTION": project.description,
        "REPOSITORY": project.published_at(),
        "VERSION": project.version,
        "BASE": project.download("").rstrip("/"),
    }
    for name, value in fields.items():
        text = text.replace(f"@{name}@", value)
    return text


def written(path: Path, text: str) -> Path:
    """Writes a file and returns where it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path

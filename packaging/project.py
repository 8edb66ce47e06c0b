"""What every package says of the project, read from Cargo.toml: the one file that the publisher fills in."""

import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Rust's name of a platform, and npm's. The release workflow builds these.
TARGETS = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
    "x86_64-pc-windows-msvc": ("win32", "x64"),
}


@dataclass(frozen=True)
class Project:
    """The fields of Cargo.toml that packages need."""

    name: str
    version: str
    description: str
    licence: str
    keywords: list[str]
    repository: str | None
    npm_scope: str | None

    def published_at(self) -> str:
        """Returns the repository's address; ends the run where the publisher has not filled it in."""
        if not self.repository:
            fail("Cargo.toml has no repository", 'add repository = "https://github.com/OWNER/NAME" to [package]')
        return self.repository.rstrip("/")

    def download(self, file: str) -> str:
        """Returns the address of a file of this version's release."""
        return f"{self.published_at()}/releases/download/v{self.version}/{file}"

    def npm_name(self, suffix: str = "") -> str:
        """Returns the name of an npm package; in the publisher's scope where Cargo.toml names one."""
        name = f"{self.name}-{suffix}" if suffix else self.name
        return f"@{self.npm_scope}/{name}" if self.npm_scope else name

    def mcp_name(self) -> str:
        """Returns the name in the MCP registry, which derives it from the owner of a GitHub repository."""
        host, _, path = self.published_at().removeprefix("https://").partition("/")
        if host != "github.com" or path.count("/") != 1:
            fail("the MCP registry takes repositories on github.com only", "leave out: server.json")
        owner, name = path.split("/")
        return f"io.github.{owner}/{name}"


def read_project() -> Project:
    """Reads Cargo.toml. ANNALS_REPOSITORY stands in for a repository that is not filled in yet, as in tests."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
    return Project(
        name=package["name"],
        version=package["version"],
        description=package["description"],
        licence=package["license"],
        keywords=package["keywords"],
        repository=package.get("repository") or os.environ.get("ANNALS_REPOSITORY"),
        npm_scope=package.get("metadata", {}).get("packaging", {}).get("npm-scope"),
    )


def archive_name(project: Project, target: str) -> str:
    """Returns the file name of a target's archive."""
    ending = "zip" if "windows" in target else "tar.gz"
    return f"{project.name}-v{project.version}-{target}.{ending}"


def binary_name(project: Project, target: str) -> str:
    """Returns the file name of a target's binary."""
    return f"{project.name}.exe" if "windows" in target else project.name


def fail(message: str, hint: str) -> None:
    """Ends the run as annals itself does: one line, and the next step."""
    print(f"error: {message}\nhint: {hint}", file=sys.stderr)
    sys.exit(1)

"""The npm packages: one per platform, which holds the binary, and the launcher that depends on all of them.

npm installs only the platform package that fits (`os`, `cpu`), so nothing runs at installation and nothing is fetched
from elsewhere. The launcher starts the binary that was installed beside it.
"""

import json
import shutil
from pathlib import Path

from project import ROOT, TARGETS, Project, binary_name

HERE = Path(__file__).resolve().parent


def write_platform(project: Project, target: str, binary: Path, out: Path) -> Path:
    """Writes the package of one platform."""
    system, cpu = TARGETS[target]
    folder = out / f"{project.name}-{system}-{cpu}"
    name = binary_name(project, target)
    manifest = common(project, project.npm_name(f"{system}-{cpu}")) | {
        "description": f"{project.description} (the binary for {system} {cpu})",
        "os": [system],
        "cpu": [cpu],
        "files": [name, "LICENSE", "NOTICE", "LICENSE-APACHE"],
    }
    write(folder, manifest)
    shutil.copy2(binary, folder / name)
    (folder / name).chmod(0o755)
    return folder


def write_launcher(project: Project, out: Path) -> Path:
    """Writes the package that people install."""
    folder = out / project.name
    manifest = common(project, project.npm_name()) | {
        "description": project.description,
        "keywords": project.keywords,
        "mcpName": project.mcp_name(),
        "bin": {project.name: "launcher.js"},
        "files": ["launcher.js", "README.md", "LICENSE", "NOTICE", "LICENSE-APACHE"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {
            project.npm_name(f"{system}-{cpu}"): project.version for system, cpu in TARGETS.values()
        },
    }
    write(folder, manifest)
    launcher = (HERE / "npm" / "launcher.js").read_text().replace("@PREFIX@", project.npm_name() + "-")
    (folder / "launcher.js").write_text(launcher)
    (folder / "launcher.js").chmod(0o755)
    shutil.copy2(ROOT / "README.md", folder)
    return folder


def common(project: Project, name: str) -> dict:
    """Returns what every package's manifest holds."""
    return {
        "name": name,
        "version": project.version,
        "license": project.licence,
        "repository": {"type": "git", "url": f"git+{project.published_at()}.git"},
    }


def write(folder: Path, manifest: dict) -> None:
    """Writes a package's manifest and licences."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for text in ["LICENSE", "assets/NOTICE", "assets/LICENSE-APACHE"]:
        shutil.copy2(ROOT / text, folder)

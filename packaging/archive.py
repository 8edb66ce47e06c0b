"""The archive of one platform: binary, licences, manual pages and shell completions, with a checksum beside it."""

import gzip
import hashlib
import io
import os
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

from project import ROOT, Project, archive_name, binary_name

SHELLS = {"bash": "annals.bash", "zsh": "_annals", "fish": "annals.fish", "powershell": "annals.ps1", "elvish": "annals.elv"}
TEXTS = ["README.md", "CHANGELOG.md", "LICENSE", "assets/NOTICE", "assets/LICENSE-APACHE"]


def write_archive(project: Project, target: str, binary: Path, speaker: Path, out: Path) -> Path:
    """Writes the archive and its checksum. `speaker` is a binary that runs here: it prints the pages and completions."""
    folder = f"{project.name}-v{project.version}-{target}"
    files = {binary_name(project, target): (binary.read_bytes(), 0o755)}
    files |= {Path(text).name: ((ROOT / text).read_bytes(), 0o644) for text in TEXTS}
    files |= {f"completions/{name}": (run(speaker, "completions", shell), 0o644) for shell, name in SHELLS.items()}
    files |= {f"man/{name}.1": (page, 0o644) for name, page in manual(project, speaker).items()}
    out.mkdir(parents=True, exist_ok=True)
    archive = out / archive_name(project, target)
    packed = {f"{folder}/{name}": file for name, file in sorted(files.items())}
    archive.write_bytes(zipped(packed) if archive.suffix == ".zip" else tarred(packed))
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    (out / f"{archive.name}.sha256").write_text(f"{checksum}  {archive.name}\n")
    return archive


def manual(project: Project, speaker: Path) -> dict[str, bytes]:
    """Returns the manual page of annals and of each of its commands."""
    commands = re.findall(r"^  ([a-z][a-z-]*)  +\S", run(speaker, "--help").decode(), re.MULTILINE)
    pages = {project.name: run(speaker, "man")}
    return pages | {f"{project.name}-{name}": run(speaker, "man", name) for name in commands if name != "help"}


def run(binary: Path, *arguments: str) -> bytes:
    """Runs annals and returns what it prints."""
    return subprocess.run([binary, *arguments], check=True, stdout=subprocess.PIPE).stdout


def modified() -> int:
    """The time that packed files carry, so that the same files give the same bytes: seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))


def tarred(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Returns files as a compressed tar archive."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=modified()) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, (content, mode) in files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), mode, modified()
                archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zipped(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Returns files as a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return packed.getvalue()

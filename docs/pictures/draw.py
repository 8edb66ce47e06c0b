#!/usr/bin/env python3
"""Draws session.svg, the README's picture, from what a binary really prints: draw.py [BINARY [FILE]]

On a copy of examples/gsd-project with a CLAUDE.md of two lines, it runs `annals status` and `annals sync`, and shows
the terminal beside the file before and after. The picture follows the reader's light or dark setting.
"""

import html
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NOW = "2026-04-13T09:00:00Z"

BEFORE = """# trailpost

Run `npm test` before every commit.
"""

FONT, LINE, CHARACTER = 13, 19, 7.83
PAD, GAP, HEAD = 18, 16, 34
COLUMNS = {"terminal": 66, "file": 62}

STYLE = f"""
text {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }}
.head {{ font-family: system-ui, sans-serif; fill: #57606a; }}
.card {{ fill: #f6f8fa; stroke: #d0d7de; }}
.soft {{ fill: #57606a; }} .typed {{ fill: #0b6b61; font-weight: 600; }} .own {{ fill: #0b6b61; }}
.block {{ fill: #0b6b61; fill-opacity: .1; }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e6edf3; }} .head, .soft {{ fill: #9198a1; }}
  .card {{ fill: #151b23; stroke: #3d444d; }} .typed, .own {{ fill: #6cd0c4; }} .block {{ fill: #6cd0c4; }}
}}
"""


def run(binary: Path, folder: Path, *arguments: str) -> str:
    """Runs annals in the folder, as on a fresh machine at a fixed time."""
    home = folder.parent / "home"
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "ANNALS_NOW": NOW, "COLUMNS": str(COLUMNS["terminal"])}
    answer = subprocess.run([binary, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return answer.stdout


def session(binary: Path) -> tuple[list[str], list[str]]:
    """Returns the terminal's lines, and those of CLAUDE.md afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "trailpost"
        shutil.copytree(ROOT / "examples" / "gsd-project", folder)
        (folder / "CLAUDE.md").write_text(BEFORE)
        terminal = []
        for command in (["status"], ["sync"]):
            terminal += [f"$ annals {' '.join(command)}", *run(binary, folder, *command).splitlines(), ""]
        return terminal[:-1], (folder / "CLAUDE.md").read_text().splitlines()


def wrapped(line: str, columns: int) -> list[str]:
    """Returns a line as the lines that a narrow window shows, those after the first indented like it."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, columns, subsequent_indent=indent, drop_whitespace=True) or [""]


def text(x: float, y: float, line: str, kind: str = "") -> str:
    """Returns one line of text."""
    chosen = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{chosen} xml:space="preserve">{html.escape(line)}</text>'


def card(x: float, y: float, width: float, title: str, lines: list[tuple[str, str]]) -> tuple[str, float]:
    """Returns a titled box with lines of (text, class), and its height."""
    height = HEAD + PAD + LINE * len(lines)
    parts = [f'<rect class="card" x="{x:.1f}" y="{y:.1f}" width="{width:.0f}" height="{height}" rx="8"/>']
    parts.append(text(x + PAD, y + 23, title, "head"))
    owned = [index for index, (_, kind) in enumerate(lines) if kind == "own"]
    if owned:
        top = y + HEAD + LINE * owned[0] - 2
        parts.append(f'<rect class="block" x="{x + 8:.0f}" y="{top:.0f}" width="{width - 16:.0f}" height="{LINE * (owned[-1] - owned[0] + 1)}" rx="4"/>')
    for index, (line, kind) in enumerate(lines):
        if line:
            parts.append(text(x + PAD, y + HEAD + LINE * index + 13, line, kind if kind != "own" else ""))
    return "\n".join(parts), height


def block_of(after: list[str], users: set[str]) -> list[tuple[str, str]]:
    """Returns the lines of CLAUDE.md: those of the block marked as ours, the user's as theirs."""
    inside, lines = False, []
    for line in after:
        inside = inside or line.startswith("<!-- annals:begin")
        kind = "own" if inside else "soft" if line in users else ""
        shown = "<!-- annals:begin … -->" if line.startswith("<!-- annals:begin") else line
        lines += [(part, kind) for part in wrapped(shown, COLUMNS["file"])]
        inside = inside and not line.startswith("<!-- annals:end")
    return lines


def picture(binary: Path) -> str:
    """Returns the whole SVG: the terminal and the file before on the left, the file after on the right."""
    terminal, after = session(binary)
    widths = {name: columns * CHARACTER + 2 * PAD for name, columns in COLUMNS.items()}
    typed = [
        (part, "typed" if line.startswith("$ ") else "")
        for line in terminal
        for part in wrapped(line, COLUMNS["terminal"])
    ]
    first, first_height = card(0.5, 0.5, widths["terminal"], "A terminal", typed)
    before = [(line, "soft") for line in BEFORE.splitlines()]
    second, second_height = card(0.5, 0.5 + first_height + GAP, widths["terminal"], "CLAUDE.md before", before)
    x = widths["terminal"] + GAP + 0.5
    title = "CLAUDE.md after: annals keeps the shaded block current, the rest is yours"
    third, third_height = card(x, 0.5, widths["file"], title, block_of(after, set(BEFORE.splitlines())))
    width = widths["terminal"] + GAP + widths["file"] + 1
    height = max(first_height + GAP + second_height, third_height) + 1
    label = "annals status and annals sync in a terminal, and CLAUDE.md before and after"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}">\n'
        f"<style>{STYLE}</style>\n{first}\n{second}\n{third}\n</svg>\n"
    )


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "debug" / "annals"
    drawn = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "session.svg"
    drawn.write_text(picture(given.resolve()))

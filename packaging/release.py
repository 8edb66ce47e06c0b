#!/usr/bin/env python3
"""Makes the packages of a release into a folder (target/packages). See packaging/README.md.

  release.py archive --target TARGET --binary FILE [--speaker FILE]   archive and checksum of one platform
  release.py npm-platform --target TARGET --binary FILE               npm package of one platform
  release.py npm                                                      npm launcher
  release.py formula | install-script                                 from the archives in the folder
  release.py registry                                                 server.json of the MCP registry
  release.py check                                                    manifests in the repository name this version
"""

import argparse
from pathlib import Path

import archive
import manifests
import npm
import published
from project import ROOT, TARGETS, read_project


def main() -> None:
    """Runs one command and prints the path of what it made."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ["archive", "npm-platform", "npm", "formula", "install-script", "registry", "check"]
    parser.add_argument("command", choices=commands)
    parser.add_argument("--target", help="Rust's name of the platform")
    parser.add_argument("--binary", type=Path, help="the binary for that platform")
    parser.add_argument("--speaker", type=Path, help="a binary that runs here, if --binary does not")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "packages")
    given = parser.parse_args()
    if given.command in ("archive", "npm-platform") and not (given.target and given.binary):
        parser.error(f"{given.command} needs --target and --binary")
    if given.command == "npm-platform" and given.target not in TARGETS:
        parser.error(f"npm has no package for {given.target}: {', '.join(TARGETS)}")
    project, out = read_project(), given.out
    made = {
        "archive": lambda: archive.write_archive(project, given.target, given.binary, given.speaker or given.binary, out),
        "npm-platform": lambda: npm.write_platform(project, given.target, given.binary, out),
        "npm": lambda: npm.write_launcher(project, out),
        "formula": lambda: published.write_formula(project, out, out),
        "install-script": lambda: published.write_install_script(project, out, out),
        "registry": lambda: published.write_registry_entry(project, out),
        "check": lambda: manifests.check(project),
    }[given.command]()
    print(made)


if __name__ == "__main__":
    main()

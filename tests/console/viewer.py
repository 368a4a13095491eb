"""Takes a version of the viewer of `/docs` into the tree: `make viewer VERSION=1.76.0`. Needs npm, and a registry.

The file is its maker's, zipped; beside it stand the licences of all that its map of sources says is in it.
"""

import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "@scalar/api-reference"
FOLDER = Path(__file__).parents[2] / "gatewayd" / "console" / "static" / "scalar"
_PART = re.compile(r"node_modules/((?:@[^/]+/)?[^/@.][^/]*)/")
_RIGHTS = re.compile(r"\W*(copyright\s+(\(c\)|©|\d).*|all rights reserved\W*)", re.IGNORECASE)
_TITLE = re.compile(r"\W*(the )?(mit|isc) licen[cs]e\W*(\(mit\))?\W*", re.IGNORECASE)
_MIT = "types"
"""The package of the same maker whose licence is as a file in it: the viewer itself only names it."""


def parts_of(sources: list[str]) -> set[str]:
    """The packages of others that a bundle is made of."""
    return {matches[-1] for source in sources if (matches := _PART.findall(source))}


def manifest_of(modules: Path, part: str) -> Path | None:
    """What a part says of itself; it may lie below the one that asks for it. None: only the bundle has it."""
    above = modules / part / "package.json"
    return above if above.exists() else next(iter(sorted(modules.rglob(f"node_modules/{part}/package.json"))), None)


def licence_of(folder: Path) -> tuple[str, str]:
    """The copyright lines of a package, and the text of its licence without them; empty where it has no such file."""
    files = [path for path in sorted(folder.iterdir()) if path.name.lower().startswith(("licen", "copying"))]
    lines = files[0].read_text("utf-8").splitlines() if files else []
    apache = any("Apache License" in line for line in lines[:5])
    rights = [] if apache else [line.strip() for line in lines if _RIGHTS.fullmatch(line)]
    text = [line for line in lines if apache or not (_RIGHTS.fullmatch(line) or _TITLE.fullmatch(line))]
    return " ".join(rights), re.sub(r"\n\s*\n+", "\n\n", "\n".join(line.rstrip() for line in text)).strip()


def licences(modules: Path, parts: set[str]) -> Iterator[str]:
    """Each text once, below the parts that it is of and whose they are."""
    of_text: dict[str, tuple[str, list[str]]] = {}
    by_name: dict[str, list[str]] = defaultdict(list)
    for part in sorted(parts):
        manifest = manifest_of(modules, part)
        if manifest is None:
            by_name["MIT"].append(part)  # today unist-util-find-after alone, of which the registry says so
            continue
        package = json.loads(manifest.read_text("utf-8"))
        rights, text = licence_of(manifest.parent)
        line = f"{part} ({package['license']}) {rights}".rstrip()
        if text:
            of_text.setdefault(re.sub(r"\W+", " ", text).lower(), (text, []))[1].append(line)
        else:
            by_name[package["license"]].append(line)
    for name, lines in sorted(by_name.items()):
        yield "\n".join((*lines, "", f"No text of its own: {name}, as below."))
    for text, lines in of_text.values():
        yield "\n".join((*lines, "", text))


def take(version: str) -> str:
    """Write the files; answers the hash of the viewer, which `test_reference.py` names."""
    with tempfile.TemporaryDirectory() as name:
        Path(name, "package.json").write_text("{}")
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{PACKAGE}@{version}"]
        subprocess.run(command, cwd=name, check=True)
        modules = Path(name, "node_modules")
        built = modules / PACKAGE / "dist" / "browser"
        viewer = (built / "standalone.js").read_bytes()
        sources = json.loads((built / "standalone.js.map").read_bytes())["sources"]
        text = f"\n\n{'-' * 80}\n\n".join(licences(modules, parts_of(sources)))
        FOLDER.mkdir(exist_ok=True)
        FOLDER.joinpath("standalone.js.gz").write_bytes(gzip.compress(viewer, 9, mtime=0))
        FOLDER.joinpath("PARTS.txt").write_text(f"What {PACKAGE} {version} is made of.\n\n{text}\n", "utf-8")
        FOLDER.joinpath("LICENSE.txt").write_bytes((modules / "@scalar" / _MIT / "LICENSE").read_bytes())
    return hashlib.sha256(viewer).hexdigest()


if __name__ == "__main__":
    print(take(sys.argv[1]))

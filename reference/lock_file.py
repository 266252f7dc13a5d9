"""`python -m reference.lock_file [--check]`: renew requirements.lock, or say where it does not fit pyproject.toml.

The file holds one exact version, with its hashes, of every package that `make` and the Dockerfile install. Each part of
it has one purpose, so that an image of the bot holds no test tools. It names no index and no path. `uv` resolves the
versions for all supported Pythons and systems at once; see docs/decisions/docs-and-dependencies.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parents[1]
LOCK: Final = "requirements.lock"
HEAD: Final = """\
# Exact versions of what is installed, with their hashes. `make update` renews this file; do not edit it.
# A part holds what its purpose needs beyond the parts above it; the Makefile and the Dockerfile choose parts.
"""
EXTRAS_OF_PART: Final[Mapping[str, tuple[str, ...]]] = {
    "product": (),
    "node": ("demo",),
    "postgres": ("postgres",),
    "dev": ("dev",),
}
"""The parts in their order, and the extras of pyproject.toml that each one holds. Build requirements are product."""

_PART: Final = "# part: "
_PIN: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)")
_HASH: Final = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def main(argv: list[str] | None = None) -> int:
    """Return 0 where the file is well, 1 where it is not; what is wrong, or what has changed, is printed."""
    parser = argparse.ArgumentParser(prog="python -m reference.lock_file", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what does not fit")
    parser.add_argument("--root", type=Path, default=HERE, help="the checkout (default: this one)")
    args = parser.parse_args(argv)
    if not args.check:
        try:
            print(renew(args.root))
        except subprocess.CalledProcessError:
            print(f"{LOCK}: not changed; uv says why, above. Check the network and pyproject.toml", file=sys.stderr)
            return 1
        return 0
    wrong = problems(args.root)
    for each in wrong:
        print(f"{LOCK}: {each}", file=sys.stderr)
    if wrong:
        print("Next: make update", file=sys.stderr)
    return 1 if wrong else 0


def renew(root: Path) -> str:
    """Write the lock anew from the newest versions that pyproject.toml allows, and return what has changed.

    Raises:
        subprocess.CalledProcessError: uv found no set of versions; it has said why.
    """
    before = pins(_read(root))
    blocks = _blocks(_compile(root, [name for extras in EXTRAS_OF_PART.values() for name in extras]))
    lines, placed = [HEAD], set[str]()
    for part, extras in EXTRAS_OF_PART.items():
        names = {_name(block) for block in _blocks(_compile(root, extras))} - placed
        lines += [f"\n{_PART}{part}\n", *(block for block in blocks if _name(block) in names)]
        placed |= names
    (root / LOCK).write_text("".join(lines), encoding="utf-8")
    after = pins(_read(root))
    changed = [
        f"{name} {', '.join(before.get(name, ['new']))} -> {', '.join(after.get(name, ['gone']))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return "\n".join(changed) or f"{LOCK}: nothing has changed"


def problems(root: Path) -> list[str]:
    """Return each way in which the lock does not fit pyproject.toml or could not be installed elsewhere."""
    text, project = _read(root), _project(root)
    found = [f"has no line {_PART}{part}" for part in EXTRAS_OF_PART if f"{_PART}{part}\n" not in text]
    found += [f"names an index or a path: {line.strip()}" for line in text.splitlines() if _names_a_place(line)]
    found += [f"has no hash for {_name(block)}" for block in _blocks(text) if not _HASH.search(block)]
    held: dict[str, list[str]] = {}
    for part, extras in EXTRAS_OF_PART.items():
        held |= pins(_part(text, part))
        for wanted in _wanted(project, extras):
            found += _misfit(wanted, held, part)
    return found


def pins(text: str) -> dict[str, list[str]]:
    """Return each package of a lock with its versions: one, but for systems that need another.

    >>> pins("a==1.0 ; os_name == 'nt' \\\\\\n    --hash=sha256:0\\na==2\\n")
    {'a': ['1.0', '2']}
    """
    found: dict[str, list[str]] = {}
    for match in _PIN.finditer("\n".join(line for line in text.splitlines() if line[:1].isalnum())):
        found.setdefault(match["name"], []).append(match["version"])
    return found


def _misfit(wanted: str, held: Mapping[str, Sequence[str]], part: str) -> Iterator[str]:
    """Yield why the versions so far do not satisfy a requirement."""
    from packaging.requirements import Requirement  # here: only the tools have it
    from packaging.utils import canonicalize_name

    requirement = Requirement(wanted)
    versions = held.get(canonicalize_name(requirement.name))
    if versions is None:
        yield f"lacks {requirement.name}, which pyproject.toml wants, in part {part} or above"
    for version in versions or ():
        if not requirement.specifier.contains(version, prereleases=True):
            yield f"has {requirement.name} {version}; pyproject.toml wants {requirement.specifier}"


def _wanted(project: Mapping[str, Any], extras: Sequence[str]) -> list[str]:
    """Return the requirements of a part; those of the package itself name other parts."""
    package = project["project"]
    found = [each for extra in extras for each in package["optional-dependencies"][extra]]
    found += [] if extras else [*package["dependencies"], *project["build-system"]["requires"]]
    return [each for each in found if not each.startswith(f"{package['name']}[")]


def _compile(root: Path, extras: Sequence[str]) -> str:
    """Return what uv resolves for the package with some extras and for building it."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", "--universal", "--quiet"]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", "--upgrade"]
    command += [word for extra in extras for word in ("--extra", extra)]
    building = "\n".join(_project(root)["build-system"]["requires"])
    done = subprocess.run(command, cwd=root, input=building, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own words
    return done.stdout


def _blocks(text: str) -> list[str]:
    """Return the text of each locked version: its line and the hashes below it."""
    return re.findall(r"(?m)^[A-Za-z0-9][^ \n]*==.*\n(?:[ ]+--hash.*\n)*", text)


def _part(text: str, part: str) -> str:
    return text.partition(f"{_PART}{part}\n")[2].partition(f"\n{_PART}")[0]


def _name(block: str) -> str:
    return block.partition("==")[0]


def _names_a_place(line: str) -> bool:
    bare = line.partition("#")[0]
    return "/" in bare or bare.startswith("-") or (bool(bare.strip()) and bare[0] != " " and not _PIN.match(bare))


def _read(root: Path) -> str:
    path = root / LOCK
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())

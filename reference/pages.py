"""The pages that hold generated parts: what they should say, written or compared. Reads and writes README and docs/."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from reference.environment import environment_part
from reference.schema import editor_schema
from reference.scopes import scopes_part
from reference.settings import settings_part
from reference.slash import slash_part
from reference.terminal import terminal_part
from reference.threads import threads_part

PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "settings": settings_part,
    "environment": environment_part,
    "threads": threads_part,
    "terminal": terminal_part,
    "slash": slash_part,
    "scopes": scopes_part,
}
SCHEMA: Final = Path("docs/triage.schema.json")
_PART: Final = re.compile(r"(<!-- generated: (?P<name>[^>]*?) -->\n).*?(<!-- /generated -->)", re.DOTALL)


def pages(root: Path) -> tuple[Path, ...]:
    """Return every page that is written for people: README, CHANGELOG and all of docs/."""
    return tuple(sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]))


def fresh(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file that holds something generated, with its whole text as it should be."""
    parts = {name: make() for name, make in PARTS.items()}
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        if _PART.search(text):
            yield page, _PART.sub(lambda found: _filled(found, parts), text)
    yield root / SCHEMA, json.dumps(editor_schema(), indent=2, ensure_ascii=False) + "\n"


def write(root: Path) -> list[Path]:
    """Bring every generated part up to date; return the files that were not."""
    changed = [(path, text) for path, text in fresh(root) if _read(path) != text]
    for path, text in changed:
        path.write_text(text, encoding="utf-8")
    return [path for path, _ in changed]


def differences(root: Path) -> Iterator[str]:
    """Yield a diff for each file that is out of date, and a line for each part that stands on no page or is unknown."""
    printed = set()
    for path, text in fresh(root):
        printed |= {found["name"] for found in _PART.finditer(text)}
        old = _read(path)
        if old != text:
            name = path.relative_to(root).as_posix()
            yield "\n".join(
                difflib.unified_diff(
                    old.splitlines(), text.splitlines(), f"{name} (as it is)", f"{name} (as the code is)", "", "", 1, ""
                )
            )
    yield from (f"the part {name!r} stands on no page" for name in PARTS if name not in printed)
    yield from (f"there is no part {name!r}; there are {', '.join(PARTS)}" for name in sorted(printed - set(PARTS)))


def _filled(found: re.Match[str], parts: Mapping[str, str]) -> str:
    part = parts.get(found["name"])
    return found[0] if part is None else f"{found[1]}\n{part}\n\n{found[3]}"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""

"""Questions that fit a codebase nobody told us about: its most used definitions, asked about by name.

Reads committed source files only, a bounded number of them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from bot.agent.git import GitRepo, TreeEntry, split_lines

MAX_FILES = 400
MAX_BYTES = 200_000
_SOURCE = frozenset(
    (
        ".py",
        ".go",
        ".rs",
        ".js",
        ".ts",
        ".tsx",
        ".java",
        ".rb",
        ".kt",
        ".c",
        ".h",
        ".cpp",
        ".cs",
        ".php",
        ".swift",
        ".sh",
    )
)
_DEFINITION = re.compile(
    r"^\s*(?:export\s+|pub\s+|public\s+|async\s+)*(class|struct|interface|trait|def|func|function|fn)\s+([A-Za-z_]\w{5,})"
)
_WORD = re.compile(r"[A-Za-z_]\w{5,}")
_TYPES = frozenset({"class", "struct", "interface", "trait"})
_SKIPPED = frozenset({"tests", "test", "testing", "vendor", "node_modules", "examples", "docs"})


def questions_for(repo: GitRepo) -> tuple[str, str]:
    """Return two questions whose answers stand in the code; for a repository without code, two about its text."""
    types, functions = _definitions(repo)
    first = f"what does `{types[0]}` do?" if types else "what is this project for?"
    second = f"where is `{functions[0]}` defined and what does it return?" if functions else "how do I install this?"
    return first, second


def _definitions(repo: GitRepo) -> tuple[list[str], list[str]]:
    """Return the names of types and of functions defined at HEAD, the most mentioned first."""
    mentions: Counter[str] = Counter()
    types: dict[str, None] = {}
    functions: dict[str, None] = {}
    for _, content in repo.blobs(entry.blob for entry in _source_files(repo)):
        for line in split_lines(content):
            mentions.update(set(_WORD.findall(line)))
            if found := _DEFINITION.match(line):
                (types if found[1] in _TYPES else functions)[found[2]] = None
    return _by_use(types, mentions), _by_use(functions, mentions)


def _source_files(repo: GitRepo) -> list[TreeEntry]:
    files = [entry for entry in repo.tree(repo.head()) if _is_source(entry)]
    return files[:MAX_FILES]


def _is_source(entry: TreeEntry) -> bool:
    path = PurePosixPath(entry.path)
    in_the_way = any(part in _SKIPPED or part.startswith(("test_", ".")) for part in path.parts)
    return path.suffix in _SOURCE and entry.size <= MAX_BYTES and not in_the_way


def _by_use(names: dict[str, None], mentions: Counter[str]) -> list[str]:
    public = [name for name in names if not name.startswith("_")]
    return sorted(public, key=lambda name: -mentions[name])

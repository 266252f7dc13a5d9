"""Questions that fit a codebase nobody told us about: its most used definitions, asked about by name.

Reads committed source files only, a bounded number of them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from bot.agent.git.git_repo import GitRepo, TreeEntry, split_lines
from bot.ports import PassageIndex

CANDIDATES = 3
MAX_FILES = 400
MAX_DOCUMENTS = 20
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
_HEADING = re.compile(r"#{1,3} +(\S.{3,60}?)\s*#*$")
_WORD = re.compile(r"[A-Za-z_]\w{5,}")
_TYPES = frozenset({"class", "struct", "interface", "trait"})
_SKIPPED = frozenset({"tests", "test", "testing", "vendor", "node_modules", "examples", "docs"})


def questions_for(repo: GitRepo, index: PassageIndex) -> list[str]:
    """Return questions the codebase can answer: about its types, its functions, and what its documents are headed.

    Empty only for a codebase in which nothing is named.
    """
    types, functions = _definitions(repo)
    asked = [f"what does `{name}` do?" for name in types[:CANDIDATES]]
    asked += [f"where is `{name}` defined and what does it return?" for name in functions[:CANDIDATES]]
    asked += [f"what do we say about {heading}?" for heading in _headings(repo)[:CANDIDATES]]
    return [question for question in _in_turns(asked) if index.search(question, limit=1)]


def _in_turns(asked: list[str]) -> list[str]:
    """Return the questions with the best of each kind first."""
    return sorted(asked, key=lambda question: (asked.index(question) % CANDIDATES, asked.index(question)))


def _headings(repo: GitRepo) -> list[str]:
    """Return the headings of the documents at HEAD, the shallowest documents first."""
    documents = [e for e in repo.tree(repo.head()) if e.path.endswith((".md", ".rst", ".txt")) and e.size <= MAX_BYTES]
    documents.sort(key=lambda entry: (entry.path.count("/"), entry.path))
    found = []
    for _, content in repo.blobs(entry.blob for entry in documents[:MAX_DOCUMENTS]):
        found += [match[1] for line in split_lines(content) if (match := _HEADING.match(line))]
    return found


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

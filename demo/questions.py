"""A question that fits a codebase nobody told us about: where its most used public definition stands.

Reads committed program code only, a bounded number of files. It is asked only if the first quote of the offline answer
holds the definition it is about; where none does, none is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from bot.agent.git.git_repo import GitRepo, TreeEntry
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.search.definitions import Definition, DefinitionKind, definitions_in
from bot.domain.search.files import FileKind, file_kind, file_lines
from bot.domain.search.tokens import is_identifier
from bot.domain.threads import QuestionType
from bot.ports import PassageIndex

FORM: Final = "where is `{}` defined, and what does it do?"
MAX_TRIED: Final = 9
MAX_FILES: Final = 400
MAX_BYTES: Final = 200_000
MIN_CHARS: Final = 4
"""Of a name that is asked about; a shorter one is a word that everything holds."""

_NO_PROGRAM: Final = re.compile(r"\.sql$|(?:^|/)docs?/")
_WORD: Final = re.compile(rf"[A-Za-z_]\w{{{MIN_CHARS - 1},}}")


def question_for(repo: GitRepo, index: PassageIndex) -> str | None:
    """Return a question that the codebase can answer; None where there is none."""
    offline = OfflineInvestigator(repo, index)
    return next((FORM.format(name) for name in _names(repo)[:MAX_TRIED] if _is_answered(offline, name)), None)


def _is_answered(offline: OfflineInvestigator, name: str) -> bool:
    """Whether the first quote of the answer holds the definition."""
    assignment = Assignment(question=FORM.format(name), question_type=QuestionType.OTHER, rubric="", round=1)
    refs = offline.investigate(assignment, run_id="demo").ret.evidence_refs[:1]
    found = (one for ref in refs for one in definitions_in(ref.ref.rpartition(":")[0], ref.quote.split("\n")))
    return any(one.name == name for one in found)


def _names(repo: GitRepo) -> list[str]:
    """Return the names of types and of functions that stand by themselves at HEAD, the most mentioned first.

    Functions that are not written like code come last: `close` is a word as well.
    """
    mentions: Counter[str] = Counter()
    names: dict[str, bool] = {}
    sources = {entry.blob: entry.path for entry in repo.tree(repo.head()) if _is_program(entry)}
    for blob, content in repo.blobs(list(sources)[:MAX_FILES]).items():
        lines = file_lines(content) or []
        for line in lines:
            mentions.update(set(_WORD.findall(line)))
        found = (one for one in definitions_in(sources[blob], lines) if _is_public(one, sources[blob]))
        names |= {one.name: one.kind is DefinitionKind.TYPE or is_identifier(one.name) for one in found}
    return sorted(names, key=lambda name: (not names[name], -mentions[name]))


def _is_program(entry: TreeEntry) -> bool:
    is_source = file_kind(entry.path) is FileKind.SOURCE and not _NO_PROGRAM.search(entry.path)
    return is_source and entry.size <= MAX_BYTES


def _is_public(one: Definition, path: str) -> bool:
    """Whether it is a type, or a function that stands by itself and is no macro, and meant for others."""
    is_hidden = one.name.startswith("_") or (path.endswith(".go") and not one.name[:1].isupper())
    is_function = one.kind is DefinitionKind.FUNCTION and not one.scope and not one.name.isupper()
    return (one.kind is DefinitionKind.TYPE or is_function) and not is_hidden and len(one.name) >= MIN_CHARS

"""Questions that fit a codebase nobody told us about: its most used public definitions that somebody described.

Reads committed program code only, a bounded number of files. A question is asked only if the first quote of the offline
answer holds the definition it is about; where none does, none is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Final

from bot.agent.git.git_repo import GitRepo, TreeEntry
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import EvidenceRef
from bot.domain.search.definitions import Definition, DefinitionKind, definitions_in
from bot.domain.search.files import FileKind, file_kind, file_lines
from bot.domain.search.passages import first_attached
from bot.domain.search.tokens import is_identifier
from bot.domain.threads import QuestionType
from bot.ports import PassageIndex

CANDIDATES: Final = 3
MAX_TRIED: Final = 9
MAX_FILES: Final = 400
MAX_BYTES: Final = 200_000
MIN_CHARS: Final = 4
"""Of a name that is asked about; a shorter one is a word that everything holds."""

MIN_WORDS: Final = 4
"""Of the sentence that describes a definition."""

MAX_HEAD: Final = 12
"""Lines of a definition in which its docstring begins."""

_NO_PROGRAM: Final = re.compile(r"\.sql$|(?:^|/)docs?/")
_WORD: Final = re.compile(rf"[A-Za-z_]\w{{{MIN_CHARS - 1},}}")
_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*)[#/*!]*")
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)")
_QUOTES: Final = ('"""', "'''")


def questions_for(repo: GitRepo, index: PassageIndex) -> list[str]:
    """Return questions that the codebase can answer, about its types and its functions in turn; maybe none."""
    types, functions = _definitions(repo)
    offline = OfflineInvestigator(repo, index)
    asked = [
        *_answered(offline, "what does `{}` do?", types),
        *_answered(offline, "where is `{}` defined and what does it return?", functions),
    ]
    return [question for _, question in sorted(asked, key=itemgetter(0))]


def _answered(offline: OfflineInvestigator, form: str, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the first CANDIDATES questions of a form whose first quote answers, each with its place among them."""
    asked = ((form.format(name), name) for name in names[:MAX_TRIED])
    tried = (question for question, name in asked if (ref := _first_quote(offline, question)) and _defines(ref, name))
    return enumerate(islice(tried, CANDIDATES))


def _first_quote(offline: OfflineInvestigator, question: str) -> EvidenceRef | None:
    assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
    return next(iter(offline.investigate(assignment, run_id="demo").ret.evidence_refs), None)


def _defines(ref: EvidenceRef, name: str) -> bool:
    path = ref.ref.rpartition(":")[0]
    return any(one.name == name for one in definitions_in(path, ref.quote.split("\n")))


def _definitions(repo: GitRepo) -> tuple[list[str], list[str]]:
    """Return the names of described types and of functions that stand by themselves at HEAD, the most mentioned first.

    Of the functions those that are written like code come before the others: `number` is a word as well.
    """
    mentions: Counter[str] = Counter()
    types: dict[str, None] = {}
    functions: dict[str, None] = {}
    sources = {entry.blob: entry.path for entry in repo.tree(repo.head()) if _is_program(entry)}
    for blob, content in repo.blobs(list(sources)[:MAX_FILES]).items():
        lines = file_lines(content) or []
        for line in lines:
            mentions.update(set(_WORD.findall(line)))
        for one in definitions_in(sources[blob], lines):
            if _is_public(one, sources[blob]) and is_sentence(description(lines, one.line)):
                (types if one.kind is DefinitionKind.TYPE else functions)[one.name] = None
    used = _by_use(functions, mentions)
    return _by_use(types, mentions), sorted(used, key=is_identifier, reverse=True)


def _is_program(entry: TreeEntry) -> bool:
    is_source = file_kind(entry.path) is FileKind.SOURCE and not _NO_PROGRAM.search(entry.path)
    return is_source and entry.size <= MAX_BYTES


def _is_public(one: Definition, path: str) -> bool:
    """Whether it is a type, or a function that stands by itself and is no macro, and meant for others."""
    is_hidden = one.name.startswith("_") or (path.endswith(".go") and not one.name[:1].isupper())
    is_function = one.kind is DefinitionKind.FUNCTION and not one.scope and not one.name.isupper()
    return (one.kind is DefinitionKind.TYPE or is_function) and not is_hidden and len(one.name) >= MIN_CHARS


def description(lines: Sequence[str], line: int) -> str:
    """Return what the comment above a definition on `line` (from 1) says, or else the docstring below its head.

    >>> description(["// Sends it", "// away.", "@final", "class Post {"], 4)
    'Sends it away.'
    """
    above = lines[first_attached(lines, line - 1) : line - 1]
    comment = [text[match.end() :] for text in above if (match := _COMMENT.match(text))]
    if comment:
        return _joined(comment)
    below = list(lines[line : line + MAX_HEAD])
    begins = next((at for at, text in enumerate(below) if text.strip().startswith(_QUOTES)), None)
    if begins is None:
        return ""
    quotes = below[begins].strip()[:3]
    return _joined(below[begins:]).removeprefix(quotes).partition(quotes)[0]


def _joined(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


def is_sentence(text: str) -> bool:
    """Whether a description begins with a sentence.

    >>> is_sentence("Sends a request to the gateway."), is_sentence("noqa: E501"), is_sentence("See above.")
    (True, False, False)
    """
    first, *rest = _SENTENCE_END.split(text, maxsplit=1)
    return bool(rest) and len(first.split()) >= MIN_WORDS


def _by_use(names: dict[str, None], mentions: Counter[str]) -> list[str]:
    return sorted(names, key=lambda name: -mentions[name])

"""Questions that fit a codebase nobody told us about: its most used definitions, asked about by name.

Reads committed source files only, a bounded number of them. A question is asked only if the first quote of the offline
answer holds what it is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from operator import itemgetter

from bot.agent.git.git_repo import GitRepo, TreeEntry, split_lines
from bot.casework.investigate.assignment import Assignment
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import EvidenceRef
from bot.domain.search.definitions import DefinitionKind, definitions_in
from bot.domain.search.files import FileKind, file_kind
from bot.domain.search.tokens import is_identifier
from bot.domain.threads import QuestionType
from bot.ports import PassageIndex

CANDIDATES = 3
MAX_TRIED = 9
MAX_FILES = 400
MAX_DOCUMENTS = 20
MAX_BYTES = 200_000
_HEADING = re.compile(r"#{1,3} +(\S.{3,60}?)\s*#*$")
_WORD = re.compile(r"[A-Za-z_]\w{5,}")
MIN_CHARS = 6
OF_COMMITS = "what changed recently?"


def questions_for(repo: GitRepo, index: PassageIndex) -> list[str]:
    """Return questions the codebase can answer: about its types, its functions, and what its documents are headed.

    About its commits where nothing is named, or nothing that the offline answer quotes first.
    """
    types, functions = _definitions(repo)
    offline = OfflineInvestigator(repo, index)
    asked = [
        *_answered(offline, "what does `{}` do?", types, _defines),
        *_answered(offline, "where is `{}` defined and what does it return?", functions, _defines),
        *_answered(offline, "what do we say about {}?", _headings(repo), _holds),
    ]
    return [question for _, question in sorted(asked, key=itemgetter(0))] or [OF_COMMITS]


def _answered(
    offline: OfflineInvestigator, form: str, names: list[str], answers: Callable[[EvidenceRef, str], bool]
) -> Iterator[tuple[int, str]]:
    """Yield the first CANDIDATES questions of a form whose first quote answers, each with its place among them."""
    tried = (
        question
        for question, name in ((form.format(name), name) for name in names[:MAX_TRIED])
        if (ref := _first_quote(offline, question)) and answers(ref, name)
    )
    return enumerate(islice(tried, CANDIDATES))


def _first_quote(offline: OfflineInvestigator, question: str) -> EvidenceRef | None:
    assignment = Assignment(question=question, question_type=QuestionType.OTHER, rubric="", round=1)
    return next(iter(offline.investigate(assignment, run_id="demo").ret.evidence_refs), None)


def _defines(ref: EvidenceRef, name: str) -> bool:
    path = ref.ref.rpartition(":")[0]
    return any(one.name == name for one in definitions_in(path, ref.quote.split("\n")))


def _holds(ref: EvidenceRef, heading: str) -> bool:
    return heading in ref.quote


def _headings(repo: GitRepo) -> list[str]:
    """Return the headings of the documents at HEAD, the shallowest documents first."""
    documents = [e for e in repo.tree(repo.head()) if file_kind(e.path) is FileKind.DOCS and e.size <= MAX_BYTES]
    documents.sort(key=lambda entry: (entry.path.count("/"), entry.path))
    found = []
    for _, content in repo.blobs(entry.blob for entry in documents[:MAX_DOCUMENTS]):
        found += [match[1] for line in split_lines(content) if (match := _HEADING.match(line))]
    return found


def _definitions(repo: GitRepo) -> tuple[list[str], list[str]]:
    """Return the names of types and of functions that stand by themselves at HEAD, the most mentioned first.

    Of the functions those that are written like code come before the others: `number` is a word as well.
    """
    mentions: Counter[str] = Counter()
    types: dict[str, None] = {}
    functions: dict[str, None] = {}
    sources = {entry.blob: entry.path for entry in repo.tree(repo.head()) if _is_source(entry)}
    for blob, content in repo.blobs(list(sources)[:MAX_FILES]):
        lines = split_lines(content)
        for line in lines:
            mentions.update(set(_WORD.findall(line)))
        for one in definitions_in(sources[blob], lines):
            if not one.scope and one.kind is not DefinitionKind.VALUE:
                (types if one.kind is DefinitionKind.TYPE else functions)[one.name] = None
    used = _by_use(functions, mentions)
    return _by_use(types, mentions), sorted(used, key=is_identifier, reverse=True)


def _is_source(entry: TreeEntry) -> bool:
    return file_kind(entry.path) is FileKind.SOURCE and entry.size <= MAX_BYTES


def _by_use(names: dict[str, None], mentions: Counter[str]) -> list[str]:
    public = [name for name in names if not name.startswith("_") and len(name) >= MIN_CHARS]
    return sorted(public, key=lambda name: -mentions[name])

"""Answers to "who calls this, where is it used?" without a model: the lines of code that hold a name.

Reads the index and the files of one commit. A line counts by its text: a call under another name is not seen, and a
line that means something else of the same name is. The reply says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from bot.agent.git.git_history import GitHistory
from bot.agent.git.git_repo import GitRepo
from bot.agent.ledger import Ledger
from bot.casework.investigate.offline_draft import (
    Excerpt,
    QuotableFile,
    excerpts_of_definition,
    has_room,
    searched_at,
)
from bot.domain.citations.comments import Scan
from bot.domain.returns import Claim, ClaimKind, InvestigatorReturn, in_paragraphs
from bot.domain.search.definitions import Definition
from bot.domain.search.files import is_indexed, is_prose, path_weight
from bot.domain.search.passages import is_import
from bot.domain.search.question_names import USE_WORDS, asks_for_uses, has_english_words, names_in
from bot.domain.search.tokens import question_stems, stem, text_stems
from bot.domain.text.humanize import counted
from bot.ports import PassageIndex

MAX_HITS: Final = 400
"""A name on more lines is an ordinary word; a list of them answers nothing."""

MAX_QUOTED: Final = 5
MAX_OTHER_WORDS: Final = 1
"""A question that says more than this besides a name wants to know more than where it is used."""

_USE_STEMS: Final = frozenset(map(stem, USE_WORDS))
CAVEAT: Final = (
    "Lines were found by the name alone: a use under another name is not among them, "
    "and a line may mean something else of the same name."
)


class Use(NamedTuple):
    """A line of code that holds a name."""

    path: str
    line: int
    is_call: bool


class Uses(NamedTuple):
    """What is written for a name, the lines that hold it, and what defines it."""

    name: str
    lines: Sequence[Use]
    defined: Sequence[Definition]

    @property
    def where(self) -> str:
        """How many lines of how many files use it."""
        files = len({one.path for one in self.lines})
        return f"{counted(len(self.lines), 'line')} in {counted(files, 'file')}" if self.lines else "no line"


def use_answer(
    question: str, index: PassageIndex, repo: GitRepo, ledger: Ledger, *, commit: str
) -> InvestigatorReturn | None:
    """Return where the name that a question asks for is used, as a draft with citations.

    None where it asks for something else, or where the code does not have the name or has it nearly everywhere. Raises
    ProviderError when git fails, StoreError when the index cannot be read.
    """
    stems = question_stems(question)
    is_english = has_english_words(question)
    for named in names_in(question).names if asks_for_uses(question) else ():
        dotted = ".".join((*named.qualifiers, named.name))
        others = stems - text_stems(dotted) - _USE_STEMS if is_english else frozenset()  # of others no word is known
        if not named.is_code or len(others) > MAX_OTHER_WORDS:
            continue
        defined = [one for one in index.definitions(named.name) if one.name == named.name]
        for name in dict.fromkeys((dotted, named.name)):
            lines = _lines(name, defined, question, repo, commit)
            if lines or (lines is not None and defined and name == named.name):
                return _composed(Uses(name, lines, defined), stems, repo, ledger, commit)
    return None


def _lines(name: str, defined: Sequence[Definition], question: str, repo: GitRepo, commit: str) -> list[Use] | None:
    """Return the lines that use a name, those of the product's own code first; None where there are too many."""
    hits, complete = GitHistory(repo).lines_with(commit, name)
    shown = [hit for hit in hits if is_indexed(hit.path)]
    if not complete or len(shown) > MAX_HITS:
        return None
    found = [
        use
        for path, _ in groupby(shown, key=lambda hit: hit.path)
        if (lines := repo.lines_at(commit, path))
        for use in _of_file(name, path, lines, {one.line for one in defined if one.path == path})
    ]
    return sorted(found, key=lambda one: (-path_weight(one.path, question), not one.is_call, one.path, one.line))


def _of_file(name: str, path: str, lines: Sequence[str], defining: set[int]) -> Iterator[Use]:
    """Yield the lines of a file that hold a name outside of comments, imports and what defines it."""
    if is_prose(path):
        return
    scan = Scan(path, lines)
    word, importing = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])"), False
    for number, line in enumerate(lines, 1):
        importing = importing or is_import(line)
        found = None if importing or number in defining else word.search(line)
        if found and not scan.is_comment_at(number, found.start()):
            yield Use(path, number, line[found.end() :].lstrip().startswith("("))
        importing = importing and _is_open(line)


def _is_open(line: str) -> bool:
    """Whether a line of an import is followed by more of it."""
    return line.rstrip().endswith("\\") or not (re.search(r"[)}]", line) or re.search(r"\w;?\s*$", line))


def _composed(
    uses: Uses, stems: frozenset[str], repo: GitRepo, ledger: Ledger, commit: str
) -> InvestigatorReturn | None:
    """Return the draft: how many lines use a name, the first of them quoted; without any, its definition."""
    chosen: list[Excerpt] = []
    for excerpt in _excerpts(uses, stems, repo, commit):
        is_new = not any(excerpt.overlaps(one) for one in chosen)
        if is_new and has_room(_claims(uses, [*chosen, excerpt])):
            chosen.append(excerpt)
            ledger.record_read(excerpt.path, excerpt.start, excerpt.end, commit=commit, text=excerpt.text)
        if len(chosen) == (MAX_QUOTED if uses.lines else 1):
            break
    if not chosen:
        return None
    claim = f"Holds `{uses.name}`." if uses.lines else f"Defines `{uses.name}`."
    return InvestigatorReturn(
        confidence="low",
        confidence_reason=f"`{uses.name}` was found by its text on {uses.where}; what each line means was not judged.",
        summary_for_orchestrator=f"Searched without a model; `{uses.name}` stands on {uses.where}.",
        draft_reply="",
        evidence_refs=tuple(one.cited_for(claim) for one in chosen),
    ).with_claims(_claims(uses, chosen))


def _claims(uses: Uses, chosen: Sequence[Excerpt]) -> list[Claim]:
    """Return what is said of the lines that are quoted."""
    besides = "Besides its definition, imports and comments" if uses.defined else "Besides imports and comments"
    if not uses.lines:
        said = f"{besides}, no line holds `{uses.name}`. It is defined here:"
    elif len(uses.lines) > len(chosen):
        said = f"{besides}, more lines than these hold `{uses.name}`:"
    else:
        said = f"{besides}, these lines hold `{uses.name}`:"
    lead = Claim(text=f"{searched_at(chosen[0].commit)} {said}", cites=tuple(range(len(chosen))))
    blocks = [one.as_claim(number) for number, one in enumerate(chosen)]
    return in_paragraphs([lead, *blocks, Claim(text=CAVEAT, kind=ClaimKind.OTHER)])


def _excerpts(uses: Uses, stems: frozenset[str], repo: GitRepo, commit: str) -> Iterator[Excerpt]:
    """Yield the line of each use; without any use, what defines the name."""
    for one in uses.lines:
        file = QuotableFile(path=one.path, commit=commit, lines=repo.lines_at(commit, one.path) or ())
        if whole := file.widened(file.cut(one.line, one.line, stems)):
            yield whole
    for definition in () if uses.lines else uses.defined:
        file = QuotableFile(path=definition.path, commit=commit, lines=repo.lines_at(commit, definition.path) or ())
        yield from excerpts_of_definition(definition, file, stems)

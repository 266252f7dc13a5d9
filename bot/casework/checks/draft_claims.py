"""Holds each claim of a draft against the lines that its citations print: `claim[0]` and so on.

Every kind of claim is compared alike. A claim in which code finds nothing to compare is unchecked (`ok` None). A file
that is named counts like any other word, and the paths of the checkout decide what a file's name is: one that several
files bear has to be given in full.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, partial
from typing import Final

from bot.agent.git.repositories import Repositories
from bot.casework.checks.sources import Found, Lines
from bot.domain.citations.claims import check_claim, has_facts
from bot.domain.returns import MAX_DRAFT_WORDS, Check, Claim, ClaimKind, EvidenceRef, InvestigatorReturn
from bot.domain.text.sanitize import one_line

SHOWN_CHARS: Final = 60
MISSING_AT_MOST: Final = 5
MAX_COMPARED: Final = 60
"""Claims of a draft that are compared; no draft of its length needs more, and each one costs a pass over the lines."""

_TOO_MANY: Final = f"only the first {MAX_COMPARED} claims are compared"

_WORD: Final = re.compile(r"[\w.@+~\[(][\w./@+~\[\]()-]{0,300}")
"""A word as files are named; whether it names one is told by the checkout."""

_LIKE_A_FILE: Final = re.compile(r"[./]\w")


def claim_checks(
    ret: InvestigatorReturn, found: Sequence[Found], repos: Repositories, question: str
) -> Iterator[Check]:
    """Yield one check a claim: backed, refuted with the words that are missing, or unchecked.

    Raises:
        ProviderError: git cannot list the files of the checkout.
    """
    files = _Checkout(repos, [each.path for each in found if isinstance(each, Lines) and each.path])
    for index, claim in enumerate(ret.said_claims):
        is_compared = index < MAX_COMPARED
        missing = _missing(claim, ret.evidence_refs, found, files, question) if is_compared else [_TOO_MANY]
        yield _check(f"claim[{index}]", claim, missing)


def _check(name: str, claim: Claim, missing: Sequence[str]) -> Check:
    said = f"“{one_line(claim.text, SHOWN_CHARS)}”"
    if missing:
        more = f" and {len(missing) - MISSING_AT_MOST} more" if len(missing) > MISSING_AT_MOST else ""
        reason = f"{said} is not backed by what it cites: {'; '.join(missing[:MISSING_AT_MOST])}{more}"
        return Check(name=name, ok=False, reason=reason)
    if claim.kind is ClaimKind.FACT and not claim.cites:
        return Check(name=name, ok=False, reason=f"{said} states a fact and cites nothing")
    if not has_facts(claim.text):
        return Check(name=name, ok=None, reason=f"{said} holds nothing that code can compare")
    return Check(name=name, ok=True, reason=f"{said} is backed by what it cites")


def _missing(
    claim: Claim, refs: Sequence[EvidenceRef], found: Sequence[Found], files: _Checkout, question: str
) -> list[str]:
    """Return the words of a claim that its citations do not hold; a note whose own lines changed backs nothing."""
    cites = set(claim.cites)
    unknown = [f"citation {at} does not exist" for at in sorted(cites.difference(range(len(refs))))]
    known = [(refs[at], each) for at, each in enumerate(found) if at in cites]
    cited = [(ref, each) for ref, each in known if isinstance(each, Lines) and not each.caution]
    lines = [line for _, each in cited for line in (*each.lines, *each.extra)]
    asked = question if claim.cites else ""
    paths = [each.path for _, each in cited if each.path]
    text = claim.text
    for path in paths:  # a cited path may be written with its codebase or without
        text = text.replace(path, files.bare(path))
    compare = partial(
        check_claim,
        text,
        paths=[files.bare(ref.ref) for ref, each in cited if each.path],
        commits=[each.commit for _, each in cited if each.commit],
    )
    missing = compare(lines, question=asked)
    if asked and not missing and (not_shown := compare(lines)):
        missing = _only_asked(not_shown, compare([]))
    return list(dict.fromkeys([*unknown, *missing, *files.misnamed(text, paths, "\n".join([*lines, asked]))]))


def _only_asked(not_shown: Sequence[str], compared: Sequence[str]) -> list[str]:
    """Return the names that a claim has from the question alone, if the cited lines show nothing else of it.

    Then nothing says that the lines are about what was asked: they may be the definition of something else.

    >>> _only_asked(["retry"], ["retry"]), _only_asked(["retry"], ["retry", "MAX = 3"])
    (['retry'], [])
    """
    names = [word for word in not_shown if any(map(str.isalpha, word))]
    return names if set(compared) <= set(not_shown) else []


class _Checkout:
    """The paths of the repositories that a draft cites, or of the first one; listed once a text may name one."""

    def __init__(self, repos: Repositories, cited: Sequence[str]) -> None:
        self._repos, self._cited = repos, cited

    def misnamed(self, text: str, cited: Sequence[str], known: str) -> list[str]:
        """Return the files that a text names, but does not cite or does not name in full; `known` holds what it may."""
        words = {word.rstrip(".,-)]").removeprefix("./") for word in _WORD.findall(text)}
        named = sorted(word for word in words if _LIKE_A_FILE.search(word))[:MAX_DRAFT_WORDS]
        bare = {self.bare(path) for path in cited}
        return [why for name in named if (why := self._flaw(name, bare)) and not _holds(known, name)]

    def bare(self, path: str) -> str:
        """Return a cited path without its codebase."""
        return self._repos.locate(path).path

    def _flaw(self, name: str, cited: Collection[str]) -> str | None:
        paths = [path for path in self._paths if path == name or path.endswith(f"/{name}")]
        if not paths or name in cited:
            return None
        if not any(path in cited for path in paths):
            return f"`{name}` is not cited"
        return f"`{name}` is the name of {len(paths)} files; give its whole path" if len(paths) > 1 else None

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The paths of every file at the HEADs."""
        located = [self._repos.locate(path).repo for path in self._cited or ("",)]
        repos = {repo.root: repo for repo in located}.values()
        return frozenset(entry.path for repo in repos for entry in repo.tree(repo.head()))


def _holds(text: str, name: str) -> bool:
    """Whether a text has a name as a word of its own, or as the end of a path."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None

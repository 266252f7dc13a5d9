"""What a draft that passed rests on: a search, code checks alone, or a second model; and how that is said. Pure.

A search without a model is no answer, and nothing that nobody but code has read is called checked by anybody else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Final

from bot.domain.returns import CODE_CHECKS, Usage
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState

OFFLINE: Final = "offline"
"""The investigator that uses no model."""

SEARCH_RESULT: Final = "Search result, not an answer"
SECOND_MODEL: Final = "✓ Checked by a second model"
CODE_ALONE: Final = "Checked by code alone, by no second model"


class Basis(StrEnum):
    """Who made and who judged a draft that passed."""

    SEARCH = "search"
    CODE = "code"
    MODEL = "model"


def basis_of(*, drafted_by: str | None, judged_by: str | None, usage: Usage | None) -> Basis:
    """Return what a draft rests on; a draft of an older record names nobody, and what it cost tells.

    >>> basis_of(drafted_by="offline", judged_by="code-checks", usage=Usage())
    <Basis.SEARCH: 'search'>
    """
    if judged_by not in (None, CODE_CHECKS):
        return Basis.MODEL
    if drafted_by is None:
        return Basis.SEARCH if usage is None or (not usage.tokens and usage.cost_usd == 0) else Basis.CODE
    return Basis.SEARCH if drafted_by == OFFLINE else Basis.CODE


def basis_of_thread(state: ThreadState) -> Basis:
    """Return what a thread's latest draft rests on."""
    judged_by = state.validator_return.validator_model if state.validator_return else None
    return basis_of(drafted_by=state.investigator, judged_by=judged_by, usage=state.usage)


def standing_words(basis: Basis) -> str:
    """Return in a few words how a draft that passed stands, for lists.

    >>> standing_words(Basis.SEARCH)
    'search result, not an answer'
    """
    said = {Basis.SEARCH: SEARCH_RESULT, Basis.CODE: "checked by code alone", Basis.MODEL: SECOND_MODEL}[basis]
    return said[:1].lower() + said[1:].replace("Checked", "checked")


def backed_words(marks: Sequence[bool | None]) -> str:
    """Return how many claims of a draft the lines they cite hold; the others hold nothing that code can compare.

    >>> backed_words([True, True, None]), backed_words([True]), backed_words([None])
    ('2 of 3 claims backed by code', '1 of 1 claim backed by code', '0 of 1 claim backed by code')
    """
    return f"{marks.count(True)} of {counted(len(marks), 'claim')} backed by code"


def passed_words(basis: Basis, *, judge: str, matches: str, read: Collection[str]) -> tuple[str, str]:
    """Return the badge of a draft that passed, and what follows it: who judged it, and what they read to do so.

    >>> passed_words(Basis.MODEL, judge="claude", matches="2 of 3 claims backed by code", read=["a.py:3-9"])
    ('✓ Checked by a second model', 'claude read a.py:3-9 · 2 of 3 claims backed by code')
    """
    if basis is Basis.MODEL:
        shown = f"{judge} read {', '.join(read)}" if read else f"{judge}, which opened no file"
        return SECOND_MODEL, f"{shown} · {matches}"
    return (SEARCH_RESULT if basis is Basis.SEARCH else CODE_ALONE), matches

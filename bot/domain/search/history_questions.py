"""Whether a question is about the history of the code rather than about the code. Pure; every pattern is bounded."""

from __future__ import annotations

import re
from typing import Final

_DEED: Final = (
    r"(?:chang(?:ed?|es|ing)|touch(?:ed)?|edit(?:ed)?|modif(?:y|ied)|wrote|written|add(?:ed)?|introduced?|author(?:ed)?"
    r"|commit(?:ted)?|creat(?:ed?)|remov(?:ed?)|delet(?:ed?)|renam(?:ed?)|mov(?:ed?)|updat(?:ed?)|refactor(?:ed)?"
    r"|rewr(?:ote|itten)|revert(?:ed)?|replac(?:ed?)|fix(?:ed)?|broke)"
)
_FORMS: Final = (
    r"\bwho(?:['’]s)?\b(?:\s+(?:has|have|had|last|most|recently|first|originally|actually|did|was|it)){0,4}"
    rf"\s+(?:the\s+(?:last|one|person|last\s+(?:one|person))\s+(?:to|who|that)\s+)?{_DEED}\b",
    rf"\bwhen\b\s+(?:was|were|did|has|have)\b[^?\n]{{1,80}}?\b(?:last\s+)?{_DEED}\b",
    r"\bwhat(?:['’]s|\s+has|\s+have|\s+was|\s+were)?(?:\s+(?:been|recently|lately|last|just))*\s+(?:changed|new)"
    r"\s+(?:in|on|to|with|about|for|lately|recently|since)\b",
    r"\bwhat(?:['’]s|\s+has|\s+have)?(?:\s+(?:been|recently|lately|last|just))*\s+changed\s*(?:\?|$)",
    r"\bwhat\s+changes\s+(?:were|was|have|has|did)\b",
    r"\b(?:recent|latest|last|newest)\s+(?:\w+\s+)?(?:changes?|commits?|edits?|modifications?)\b",
    r"\b(?:git\s+(?:history|log|blame)|(?:change|commit)\s+history|history\s+of|author\s+of)\b",
    rf"\bwhy\s+(?:was|were|did|has|have)\b[^?\n]{{1,80}}?\b{_DEED}\b",
)
_HISTORY: Final = re.compile("|".join(_FORMS), re.I)
_WHY: Final = re.compile(r"\bwhy\b", re.I)
_ORIGIN: Final = re.compile(
    r"\b(?:introduced?|creat(?:ed?|or)|add(?:ed)?|wrote|written|originally|first|author)\b", re.I
)
_LATEST: Final = re.compile(r"\b(?:last|lately|latest|recent(?:ly)?|newest)\b", re.I)
HISTORY_WORDS: Final = frozenset(
    """
    changed change changes changing touched edited modified modify wrote written added add introduced introduce author
    authored commit commits committed created create removed remove deleted delete renamed rename moved move updated
    update refactored refactor rewrote rewritten reverted revert replaced replace fixed fix broke last lately recently
    recent latest newest new history git log blame edits edit modification modifications line lines originally first
    file files folder directory originally week month yesterday today days weeks months
    """.split()  # noqa: SIM905 - a word list is read as words
)


def asks_for_history(question: str) -> bool:
    """Whether a question wants to know who changed something, when, what or why.

    >>> asks_for_history("who last changed `send`?"), asks_for_history("what changes the log level?")
    (True, False)
    """
    return _HISTORY.search(question) is not None


def asks_for_origin(question: str) -> bool:
    """Whether the first commit is asked for rather than the last ones.

    >>> asks_for_origin("who wrote `send`?"), asks_for_origin("who last added a test to `send`?")
    (True, False)
    """
    return _ORIGIN.search(question) is not None and _LATEST.search(question) is None


def asks_why(question: str) -> bool:
    """Whether the reasons are asked for, which only a whole message may tell."""
    return _WHY.search(question) is not None

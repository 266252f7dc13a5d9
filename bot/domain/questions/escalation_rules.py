"""Which questions take long, what a long run's session is called, and how one watches it. Pure.

The estimate is a rule of thumb that errs towards short: a run that turns out too short asks for more by itself.
English only; a question in another language starts short.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

from bot.domain.threads import QuestionType

SESSION_PREFIX: Final = "investigator-"
_READ_CHARS: Final = 4_000
_LONG_WORDS: Final = 120

_MINUTES: Final = {
    QuestionType.STATUS_CHECK: 1,
    QuestionType.DATA_LOOKUP: 2,
    QuestionType.API_CONTRACT: 2,
    QuestionType.TECHNICAL_QA: 3,
    QuestionType.OTHER: 2,
}
_THINGS: Final = (
    r"(?:(?:single|other) )?(?:places?|spots?|callers?|call sites?|usages?|uses|references?|endpoints?|services?"
    r"|modules?|files?|quer(?:y|ies)|code ?paths?|consumers?|dependenc(?:y|ies)|handlers?|jobs?)"
)
_WIDE: Final = tuple(
    (minutes, re.compile(pattern, re.IGNORECASE))
    for minutes, pattern in (
        # an audit log is a thing, an audit is work
        (8, r"\baudit(?:ing)?\b(?!\s*(?:logs?|trails?|events?|tables?|records?|entr|messages?|fields?|id))"),
        (8, r"\broot[- ]cause\b|\bpost[- ]?mortem\b|\bbisect\b"),
        (8, rf"\b(?:every|each and every|all(?: of)?(?: the| our)?) {_THINGS}\b"),
        (8, r"\btrac(?:e|ing)\b.{0,60}\b(?:through|across|end[- ]to[- ]end|all)\b"),
        (
            7,
            r"\b(?:across|throughout|in) (?:the |our )?(?:whole|entire|complete) (?:code ?base|repo\w*|system|stack)\b",
        ),
        (
            7,
            r"\b(?:exhaustive|comprehensive|full|complete) (?:list|inventory|review|analysis|overview|investigation)\b",
        ),
        (8, r"\b(?:security|threat|performance|architecture) (?:review|model|analysis|assessment)\b"),
        (6, r"\b(?:intermittent(?:ly)?|flak[ye]|memory leak|race condition|deadlocks?|heisenbug)\b"),
        (5, r"\b(?:deep[- ]dive|dig (?:into|deep)|thorough(?:ly)?|in depth|step by step|investigate)\b"),
    )
)
_NUMBERED: Final = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+\S", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_PART_MINUTES: Final = 2
_MAX_PARTS: Final = 5


def expected_minutes(question: str, kind: QuestionType) -> int:
    """Return how many minutes an investigation is expected to take.

    >>> expected_minutes("Where is the retry limit set?", QuestionType.TECHNICAL_QA)
    3
    >>> expected_minutes("Audit every place where we log an email address.", QuestionType.TECHNICAL_QA)
    19
    """
    asked = _CODE.sub(" ", question[:_READ_CHARS])
    scope = sum(minutes for minutes, pattern in _WIDE if pattern.search(asked))
    parts = max(len(re.findall(r"[?？]", asked)), len(_NUMBERED.findall(asked)), 1)
    length = 3 if len(asked.split()) > _LONG_WORDS else 0
    return _MINUTES[kind] + scope + length + _PART_MINUTES * min(parts - 1, _MAX_PARTS)


def session_name(thread_id: str) -> str:
    """Return the name of a thread's session; a dot would mean a pane to tmux.

    >>> session_name("T01.C01.1700000000.000100")
    'investigator-T01_C01_1700000000_000100'
    """
    return SESSION_PREFIX + thread_id.replace(".", "_")


def socket_path(home: Path) -> Path:
    """Return where the tmux server of a data directory listens: its own, beside nobody else's sessions."""
    return home / "tmux.sock"


def watch_line(session: str | None, transcript: str) -> str:
    """Return the one line that shows a run at work: attach to its tmux session, or follow its transcript.

    >>> watch_line(None, "/var/lib/my triage/escalations/T.C.1.2/transcript.log")
    "tail -f '/var/lib/my triage/escalations/T.C.1.2/transcript.log'"
    """
    if session is None:
        return f"tail -f {shlex.quote(transcript)}"
    home = Path(transcript).parents[2]  # <home>/escalations/<thread_id>/transcript.log
    return f"tmux -S {shlex.quote(str(socket_path(home)))} attach -t {shlex.quote(session)}"

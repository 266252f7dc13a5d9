"""Which questions take long, what a long run's session is called, and how one watches it. Pure.

The estimate (escalation_rules.yml, which knows English) is a rule of thumb that errs towards short: a run that turns
out too short asks for more by itself.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final, NamedTuple

from bot.domain.tables import Parts, fill, read_table
from bot.domain.threads import QuestionType

SESSION_PREFIX: Final = "investigator-"
_READ_CHARS: Final = 4_000
_LONG_WORDS: Final = 120

_NUMBERED: Final = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+\S", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_PART_MINUTES: Final = 2
_MAX_PARTS: Final = 5


class _EscalationRulesTable(NamedTuple):
    minutes: dict[QuestionType, int]
    parts: Parts
    wide: tuple[tuple[int, str], ...]


_LISTS: Final = read_table(__file__, "escalation_rules.yml", _EscalationRulesTable)
_WIDE: Final = [(minutes, re.compile(fill(rule, _LISTS.parts), re.IGNORECASE)) for minutes, rule in _LISTS.wide]


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
    return _LISTS.minutes[kind] + scope + length + _PART_MINUTES * min(parts - 1, _MAX_PARTS)


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

"""What a good answer of each type of question looks like, and which questions take long. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from bot.domain.returns import MAX_DRAFT_WORDS, EvidenceKind
from bot.domain.tables import Parts, fill, read_table
from bot.domain.threads import QuestionType

_READ_CHARS: Final = 4_000

# Whoever asks where or how wants to know about the code, even if the sentence says that something is done.
_LOCATES: Final = re.compile(r"\W*(?:<@\w+>\W*)?(?:where|how)\b", re.IGNORECASE)
_STATUS: Final = QuestionType.STATUS_CHECK


def question_type_of(text: str) -> QuestionType:
    """Return the type of a question, by rules; OTHER where none fits.

    >>> str(question_type_of("Is the payments API down?")), str(question_type_of("Where is the retry limit set?"))
    ('status_check', 'technical_qa')
    """
    asked = text.replace("’", "'")[:_READ_CHARS]
    kinds = {kind for kind, pattern in _PATTERNS if pattern.search(asked)}
    if _LOCATES.match(asked):
        kinds.discard(_STATUS)
    return next((kind for kind in _IN_ORDER if kind in kinds), QuestionType.OTHER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rubric:
    """The measure of a draft.

    At least one proved citation must be of a kind in `required_kinds`; empty means any.
    """

    question_type: QuestionType
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str
    tone: str = "plain and short, as a colleague writes in a thread; no greeting, no hedging, no disclaimers"
    also: tuple[str, ...] = ()
    """What the team asks for besides."""

    def render(self) -> str:
        """Return the rubric as the lines that go into the investigator's brief and the thread's state."""
        kinds = ", ".join(sorted(self.required_kinds)) or "any kind"
        return "\n".join(
            [
                f"Question type: {self.question_type}",
                f"Expected answer: {self.expected_shape}",
                *(f"Also: {' '.join(point.split())}" for point in self.also),
                f"Required evidence: at least one citation ({kinds})",
                f"Out of scope: {self.out_of_scope}",
                f"Tone: {self.tone}; at most {MAX_DRAFT_WORDS} words",
                "Language: the language of the question",
            ]
        )


class _Asked(NamedTuple):
    required_kinds: frozenset[EvidenceKind]
    expected_shape: str
    out_of_scope: str


class _RubricsTable(NamedTuple):
    rubrics: dict[QuestionType, _Asked]
    parts: Parts
    rules: tuple[tuple[QuestionType, str], ...]


_LISTS: Final = read_table(__file__, "rubrics.yml", _RubricsTable)
_PATTERNS: Final = tuple(
    (kind, re.compile(fill(rule, _LISTS.parts).replace("~", r"(?:[^.?!\n]|\.\w){0,80}?"), re.IGNORECASE))
    for kind, rule in _LISTS.rules
)
_IN_ORDER: Final = tuple(dict.fromkeys(kind for kind, _ in _LISTS.rules))
_RUBRICS: Final = {kind: Rubric(question_type=kind, **asked._asdict()) for kind, asked in _LISTS.rubrics.items()}


def rubric_for(question_type: QuestionType, *, also: Sequence[str] = ()) -> Rubric:
    """Return the rubric of a question type; `also` is what the team asks for besides."""
    return replace(_RUBRICS[question_type], also=tuple(also))


SESSION_PREFIX: Final = "investigator-"
_LONG_WORDS: Final = 120

_NUMBERED: Final = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+\S", re.MULTILINE)
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_PART_MINUTES: Final = 2
_MAX_PARTS: Final = 5


class _EscalationRulesTable(NamedTuple):
    minutes: dict[QuestionType, int]
    parts: Parts
    wide: tuple[tuple[int, str], ...]


_LENGTHS: Final = read_table(__file__, "escalation_rules.yml", _EscalationRulesTable)
_WIDE: Final = [(minutes, re.compile(fill(rule, _LENGTHS.parts), re.IGNORECASE)) for minutes, rule in _LENGTHS.wide]


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
    return _LENGTHS.minutes[kind] + scope + length + _PART_MINUTES * min(parts - 1, _MAX_PARTS)


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

"""What an investigator is given, what it hands back, and the one thing it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bot.agent.ledger import Ledger
from bot.agent.run import OnProgress
from bot.domain.passages import MemoryHit
from bot.domain.returns import InvestigatorReturn, Usage
from bot.domain.threads import QuestionType


class Said(NamedTuple):
    """What somebody said, and who."""

    sender: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """One question to look into: all an investigator knows when it starts.

    `summaries` has one line for each other open thread; `feedback` is why the draft of the round before came back;
    `spent_usd` is what the thread has cost so far.
    """

    question: str
    asked_by: str | None = None
    question_type: QuestionType
    rubric: str
    round: int
    thread_context: tuple[Said, ...] = ()
    human_context: tuple[Said, ...] = ()
    summaries: tuple[str, ...] = ()
    memory_hits: tuple[MemoryHit, ...] = ()
    feedback: str | None = None
    spent_usd: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Investigation:
    """A draft, what was read for it (None: nobody knows), what it cost and who made it (a model's id, or `offline`).

    `convergence_forced` says that the run made no progress and was told to answer with what it had.
    """

    ret: InvestigatorReturn
    ledger: Ledger | None
    usage: Usage
    investigator: str
    convergence_forced: bool = False


class Investigator(Protocol):
    """Looks into a question; never posts, never writes."""

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        """Return a draft with its evidence, or open questions instead; raises ProviderError."""
        ...

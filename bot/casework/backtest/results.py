"""What came of past questions: a row for each, and the figures over all of them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import Any, Final, NamedTuple, Self

from pydantic import ValidationError

from bot.casework.backtest.known_answers import Standing
from bot.casework.backtest.past_threads import HeardMessage, OwnRecord
from bot.casework.reports.classifier_samples import Judgement, error_rates
from bot.casework.reports.measures import measure_total
from bot.domain.frozen_value import FrozenValue
from bot.domain.threads import Resolution

SHOWN: Final = 10
_Z: Final = 1.96
_CONFIDENCE: Final = ("low", "medium", "high")


class Cite(FrozenValue):
    """A citation, and its page on the code host."""

    ref: str
    link: str | None = None


class PastDraft(FrozenValue):
    """One question and what came of it; a line of the journal.

    `key` tells whether a later run may take it over; `problem` says why there is no result, and such a row is not kept.
    `is_spent`: the money is. `known` is what the answer is known to be: place and who says so.
    """

    key: str
    thread_id: str
    message_id: str
    commits: Mapping[str, str] = {}
    draft: str = ""
    confidence: str = ""
    cites: tuple[Cite, ...] = ()
    passed: bool = False
    reasons: tuple[str, ...] = ()
    standing: Standing = Standing.UNKNOWN
    known: tuple[tuple[str, str], ...] = ()
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    problem: str = ""
    is_spent: bool = False

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Self | None:
        """Return a line of the journal; None for what is none of this release."""
        try:
            return cls.model_validate(record)
        except ValidationError:
            return None

    @property
    def has_draft(self) -> bool:
        """Whether there is anything to post."""
        return bool(self.draft.strip())

    @property
    def surety(self) -> tuple[bool, int]:
        """How sure the draft looks: whether all checks passed, and its confidence."""
        return self.passed, _CONFIDENCE.index(self.confidence) if self.confidence in _CONFIDENCE else 0


class Share(NamedTuple):
    """How often something held, of how many, with the 95 % interval of Wilson."""

    hits: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return both ends; 0 and 1 of nothing.

        >>> [round(end, 3) for end in Share(8, 10).interval]
        [0.49, 0.943]
        """
        if not self.of:
            return 0.0, 1.0
        rate, spread = self.hits / self.of, _Z * _Z / self.of
        middle = rate + spread / 2
        half = _Z * sqrt(rate * (1 - rate) / self.of + spread / (4 * self.of))
        return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**self._asdict(), "interval": self.interval}


@dataclass(frozen=True, kw_only=True, slots=True)
class Backtest:
    """One run: what was heard, what was drafted, what the bot's own record and the marks of people say."""

    title: str
    investigator: str
    unreadable: int
    heard: Sequence[HeardMessage]
    drafts: Sequence[PastDraft]
    own: Mapping[str, OwnRecord]
    marks: Sequence[Judgement]

    @property
    def classes(self) -> Counter[str]:
        """How many messages each class has."""
        return Counter(one.classification for one in self.heard)

    @property
    def standings(self) -> Counter[Standing]:
        """How many questions stand how; one that failed is not known."""
        return Counter(one.standing for one in self.drafts)

    @property
    def shares(self) -> dict[str, Share]:
        """What is measured, with how many it rests on."""
        count, drafted = self.standings, [one for one in self.drafts if one.has_draft]
        known = count[Standing.RIGHT] + count[Standing.WRONG]
        alone, taken = error_rates(self.marks)
        return {
            "drafted": Share(len(drafted), len(self.drafts)),
            "passed": Share(sum(one.passed for one in drafted), len(drafted)),
            "right": Share(count[Standing.RIGHT], known),
            "found": Share(count[Standing.RIGHT], known + count[Standing.MISSED]),
            "wrongly_ignored": Share(alone.wrong, alone.n),
            "wrongly_heard": Share(taken.wrong, taken.n),
        }

    @property
    def cost_usd(self) -> float | None:
        """What all drafts cost, in US dollars; None where a price is not known."""
        return measure_total(one.cost_usd for one in self.drafts)

    def own_counts(self) -> dict[str, Any]:
        """Return what people made of the bot's own drafts."""
        counts = Counter(one.resolution for one in self.own.values())
        edits = [one.changed for one in self.own.values() if one.resolution == Resolution.EDITED]
        reasons = Counter(one.reason for one in self.own.values() if one.reason)
        return {**counts, "edited_share": median(edits) if edits else None, "dismissed_because": dict(reasons)}

    def best(self) -> list[PastDraft]:
        """Return the surest right drafts."""
        return self._surest(Standing.RIGHT)

    def worst(self) -> list[PastDraft]:
        """Return the surest wrong drafts, then what was missed."""
        return [*self._surest(Standing.WRONG), *self._surest(Standing.MISSED)][:SHOWN]

    def _surest(self, standing: Standing) -> list[PastDraft]:
        found = [one for one in self.drafts if one.standing is standing]
        return sorted(found, key=lambda one: one.surety, reverse=True)[:SHOWN]

    def as_json(self) -> dict[str, Any]:
        """Return the figures and every row."""
        return {
            "source": self.title,
            "investigator": self.investigator,
            "messages": len(self.heard),
            "unreadable": self.unreadable,
            "classes": self.classes,
            "questions": len(self.drafts),
            "failed": sum(bool(one.problem) for one in self.drafts),
            "standings": {one: self.standings[one] for one in Standing},
            "shares": {name: one.as_json() for name, one in self.shares.items()},
            "own_drafts": self.own_counts(),
            "cost_usd": self.cost_usd,
            "drafts": [one.model_dump(mode="json") for one in self.drafts],
        }


def marks_of(heard: Iterable[HeardMessage], marks: Iterable[Judgement]) -> list[Judgement]:
    """Return the marks of these messages."""
    places = {(one.event.chat_id, one.event.message_id) for one in heard}
    return [one for one in marks if one.place in places]

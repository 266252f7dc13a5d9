"""Runs past events through today's rules: which would be actionable, and what changed against the record. Pure.

Whether a thread had work under way is taken from the record if there is one, because a stream does not say when work
ended; else a thread counts as under way from its first actionable message on.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.domain.events import Event, MessageType, thread_key
from bot.intake.classifier.classification import evaluate_rules
from bot.intake.classifier.rules import Rules

EXAMPLES: Final = 3
THRESHOLDS: Final = (0.3, 0.36, 0.48, 0.54, 0.6)
_NO_MESSAGES: Final = (MessageType.EDIT, MessageType.DELETE)

Change = tuple[str, str]
"""What a message was, and what it would be today."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayedEvent:
    """A past event, with what was recorded of it."""

    event: Event
    recorded: Mapping[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, slots=True)
class ReplayReport:
    """What came of it; `questions` are the messages that would open a thread, oldest first."""

    total: int = 0
    ignored: int = 0
    today: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    changes: dict[Change, list[Event]] = field(default_factory=dict)
    counts: Counter[Change] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    questions: list[Event] = field(default_factory=list)

    @property
    def actionable_share(self) -> float:
        """The share of messages that would be work."""
        return self.today["actionable"] / max(1, self.today.total())


def replay_events(heard: Iterable[ReplayedEvent], rules: Rules, *, allow_bots: Iterable[str] = ()) -> ReplayReport:
    """Return what today's rules make of past events; bots that are not allowed and edits are only counted."""
    done, bots = ReplayReport(), frozenset(allow_bots)
    under_way: set[str] = set()
    for each in heard:
        done.total += 1
        event = each.event
        if event.msg_type in _NO_MESSAGES or (event.sender.type == "bot" and event.sender.id not in bots):
            done.ignored += 1
            continue
        _take(done, each, rules, under_way)
    return done


def replay_thresholds(
    heard: Sequence[ReplayedEvent], rules: Rules, *, allow_bots: Iterable[str]
) -> dict[float, ReplayReport]:
    """Return what each of THRESHOLDS, and the one in use, would have made of past events; nothing without a score."""
    if rules.threshold is None:
        return {}
    thresholds = sorted({*THRESHOLDS, rules.threshold})
    allowed = frozenset(allow_bots)
    return {
        threshold: replay_events(heard, dataclasses.replace(rules, threshold=threshold), allow_bots=allowed)
        for threshold in thresholds
    }


def _take(done: ReplayReport, each: ReplayedEvent, rules: Rules, under_way: set[str]) -> None:
    event, before = each.event, each.recorded.get("classification")
    key = thread_key(event)
    inflight = each.recorded.get("mentions_thread_with_inflight") if before else key in under_way
    now = evaluate_rules(event, rules, inflight is True).classification
    done.today[now] += 1
    if now == "actionable" and key not in under_way:
        under_way.add(key)
        if inflight is not True:
            done.questions.append(event)
    if not isinstance(before, str):
        return
    done.compared += 1
    done.versions[str(each.recorded.get("classifier_version"))] += 1
    if before != now:
        done.counts[before, now] += 1
        examples = done.changes.setdefault((before, now), [])
        if len(examples) < EXAMPLES:
            examples.append(event)


def likely_bot_id(heard: Iterable[ReplayedEvent]) -> str | None:
    """Return who was mentioned most in messages recorded as mentions of the bot; None where there is no such record."""
    named = Counter(
        user for each in heard if each.recorded.get("is_bot_mention") is True for user in each.event.mentions
    )
    return named.most_common(1)[0][0] if named else None

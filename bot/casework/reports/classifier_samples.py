"""Samples classified messages for people to judge, reads their marks, and counts how often the classifier errs.

judgements.ndjson and a file of marks hold one line for each message judged; the latest of a message counts. AC-11
counts messages that were left alone and deserved work; messages that were taken for work and deserved none are counted
apart.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from bot.casework.reports.measures import time_of
from bot.errors import InputError

LEFT_ALONE = ("ambient", "ack")

TAKEN = ("actionable",)

Place = tuple[str, str]
"""Which message: its channel and its ts."""


class Judgement(BaseModel):
    """One line of judgements.ndjson."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    at: AwareDatetime
    by: str
    chat_id: str
    message_id: str
    classification: str
    classifier_version: str | None = None
    right: bool

    @property
    def place(self) -> Place:
        """Which message was judged."""
        return self.chat_id, self.message_id

    @classmethod
    def read(cls, record: dict[str, Any]) -> Judgement | None:
        """Return a record as a judgement, or None for what is none."""
        try:
            return cls.model_validate(record)
        except ValidationError:
            return None


class Sample(NamedTuple):
    """A message to judge."""

    chat_id: str
    message_id: str
    classification: str
    classifier_version: str | None
    content: str

    @property
    def place(self) -> Place:
        """Which message it is."""
        return self.chat_id, self.message_id


class ErrorRate(NamedTuple):
    """Of `n` judged messages, how many were wrongly classified."""

    n: int
    wrong: int


def read_marks(text: str, **said: str) -> list[Judgement]:
    """Return the marks of a file: a line for each message, as a backtest's page saves them.

    A line of `--sample --json` with `right` filled in is one too; `right: null` is none. `said` is what holds for all.

    Raises:
        InputError: a line is none of these; nothing of the file counts.
    """
    marks = []
    for number, line in enumerate(text.splitlines(), 1):
        record = _object(line) if line.strip() else {"right": None}
        if record.get("right", False) is None:
            continue
        found = Judgement.read({**said, **record})
        if found is None:
            raise InputError(f"marks, line {number}: right must be true or false, beside chat_id and message_id")
        marks.append(found)
    return marks


def _object(line: str) -> dict[str, Any]:
    """Return a line as an object; an empty one where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def error_rates(judged: Iterable[Judgement]) -> tuple[ErrorRate, ErrorRate]:
    """Return how often messages were wrongly left alone, and wrongly taken for work; a later judgement takes over."""
    latest = {each.place: each for each in judged}.values()
    alone, taken = ([not one.right for one in latest if one.classification in kinds] for kinds in (LEFT_ALONE, TAKEN))
    return ErrorRate(len(alone), sum(alone)), ErrorRate(len(taken), sum(taken))


def draw_sample(
    records: Iterable[dict[str, Any]], count: int, *, seed: str, since: datetime, but: Collection[Place] = ()
) -> list[Sample]:
    """Return `count` messages, half of them left alone and half taken for work, the same ones for the same seed.

    Of each half every message is as likely as any other; where one kind has fewer, there are more of the other. A
    mention of the bot is always work and not drawn.

    Args:
        records: The lines of events-classified.ndjson, oldest first.
        count: How many; fewer where there are fewer.
        seed: What the choice hangs on.
        since: How old they may be.
        but: Messages that have been judged.
    """
    specimens = (_specimen(record, since) for record in records)
    found = {one.place: one for one in specimens if one is not None and one.place not in but}
    dice = random.Random(seed)  # noqa: S311 - a fair sample, no secret
    alone, taken = ([one for one in found.values() if one.classification in kind] for kind in (LEFT_ALONE, TAKEN))
    dice.shuffle(alone)
    dice.shuffle(taken)
    wanted = max(count // 2, count - len(alone))
    return [*alone[: count - min(wanted, len(taken))], *taken[:wanted]]


def _specimen(record: dict[str, Any], since: datetime) -> Sample | None:
    if record.get("classification") not in (*LEFT_ALONE, *TAKEN) or record.get("is_bot_mention"):
        return None
    if record.get("msg_type") in ("edit", "delete"):
        return None
    at = time_of(record.get("create_time"))
    if at is None or at < since:
        return None
    version = record.get("classifier_version")
    return Sample(
        str(record.get("chat_id")),
        str(record.get("message_id")),
        str(record["classification"]),
        str(version) if version is not None else None,
        str(record.get("content") or ""),
    )

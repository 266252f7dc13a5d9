"""People judge whether the rules were right to leave a message alone: samples to judge, and judgements to keep.

judgements.ndjson holds one line for each message judged; the latest of a message counts. A message the rules left alone
and that deserved work is what AC-11 counts.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

LEFT_ALONE = ("ambient", "ack")

Place = tuple[str, str]
"""Which message: its channel and its ts."""


class Judgement(BaseModel):
    """One line of judgements.ndjson."""

    model_config = ConfigDict(frozen=True, extra="ignore")

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

    def judged(self, *, right: bool, by: str, at: datetime) -> Judgement:
        """Return what somebody said of it."""
        known = {key: value for key, value in self._asdict().items() if key != "content"}
        return Judgement(**known, right=right, by=by, at=at)


def draw_sample(
    records: Iterable[dict[str, Any]], count: int, *, seed: str, since: datetime, but: Collection[Place] = ()
) -> list[Sample]:
    """Return `count` messages that the rules left alone, each as likely as any other, the same ones for the same seed.

    Args:
        records: The lines of events-classified.ndjson, oldest first; read once, never all kept.
        count: How many; fewer where there are fewer.
        seed: What the choice hangs on.
        since: How old they may be.
        but: Messages that have been judged.
    """
    dice = random.Random(seed)  # noqa: S311 - a fair sample, no secret
    kept: list[Sample] = []
    seen = 0
    known = set(but)
    for record in records:
        found = _specimen(record, since)
        if found is None or found.place in known:
            continue
        known.add(found.place)
        seen += 1
        if len(kept) < count:
            kept.append(found)
        elif (slot := dice.randrange(seen)) < count:
            kept[slot] = found
    return kept


def _specimen(record: dict[str, Any], since: datetime) -> Sample | None:
    if record.get("classification") not in LEFT_ALONE or record.get("msg_type") in ("edit", "delete"):
        return None
    try:
        at = datetime.fromisoformat(str(record.get("create_time")))
        is_old = at < since
    except (ValueError, TypeError):  # no time, or one without a zone
        return None
    if is_old:
        return None
    version = record.get("classifier_version")
    return Sample(
        str(record.get("chat_id")),
        str(record.get("message_id")),
        str(record["classification"]),
        str(version) if version is not None else None,
        str(record.get("content") or ""),
    )

"""A sample is fair, repeatable, and of both kinds: messages that were left alone, and that were taken for work."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bot.casework.reports.classifier_samples import ErrorRate, Judgement, draw_sample, error_rates
from tests.builders import NOW, an_event
from tests.tables import each_row

SINCE = NOW.replace(year=2000)


def record(number: int, classification: str = "ambient", **changes: Any) -> dict[str, Any]:
    event = an_event(f"message {number}", ts=f"{1_795_165_200 + number}.000100").model_dump(mode="json")
    return {**event, "classification": classification, **changes}


def test_messages_are_drawn_each_once() -> None:
    """No mentions of the bot, no edits, no duplicates, nothing judged before, nothing without a time."""
    lines = [record(1), record(1), record(2, "ack"), record(3, "actionable"), record(4, msg_type="edit")]
    lines += [record(8, "actionable", is_bot_mention=True), record(9, "nonsense")]
    lines += [record(5, create_time="yesterday"), record(6, create_time="2026-11-20T09:00:00"), record(7)]
    judged = {("C1", record(7)["message_id"])}
    found = draw_sample(lines, 10, seed="s", since=SINCE, but=judged)
    assert sorted(each.content for each in found) == ["message 1", "message 2", "message 3"]


@each_row("alone, taken, drawn", [(50, 50, (5, 5)), (50, 2, (8, 2)), (3, 50, (3, 7)), (2, 3, (2, 3))])
def test_half_were_left_alone_and_half_taken_for_work(alone: int, taken: int, drawn: tuple[int, int]) -> None:
    """Where one kind has fewer, there are more of the other."""
    lines = [record(number, "actionable" if number < taken else "ack") for number in range(taken + alone)]
    found = [each.classification for each in draw_sample(lines, 10, seed="s", since=SINCE)]
    assert (found.count("ack"), found.count("actionable")) == drawn


def test_each_kind_has_its_own_rate_of_errors() -> None:
    """The latest judgement of a message counts."""
    said = [("ack", True), ("ambient", False), ("actionable", False), ("actionable", False), ("actionable", True)]
    judged = [
        Judgement(chat_id="C1", message_id=f"{number}.1", classification=kind, right=right, by="ana", at=NOW)
        for number, (kind, right) in enumerate(said)
    ]
    corrected = judged[2].model_copy(update={"right": True})
    assert error_rates([*judged, corrected]) == (ErrorRate(2, 1), ErrorRate(3, 1))


def test_every_message_is_as_likely_as_any_other() -> None:
    """Of its kind: of 20, 5 are drawn 2,000 times, each some 500 times."""
    lines = [record(number, kind) for number, kind in enumerate(["ambient", "actionable"] * 20)]
    drawn = Counter(
        each.content for seed in range(2_000) for each in draw_sample(lines, 10, seed=str(seed), since=SINCE)
    )
    assert len(drawn) == 40
    assert all(400 < times < 600 for times in drawn.values())

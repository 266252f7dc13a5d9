"""A sample is fair, repeatable, and of messages that the rules left alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bot.casework.reports.classifier_samples import draw_sample
from tests.builders import NOW, an_event

SINCE = NOW.replace(year=2000)


def record(number: int, classification: str = "ambient", **changes: Any) -> dict[str, Any]:
    event = an_event(f"message {number}", ts=f"{1_795_165_200 + number}.000100").model_dump(mode="json")
    return {**event, "classification": classification, **changes}


def test_only_what_was_left_alone_is_drawn_each_once() -> None:
    """No work, no edits, no duplicates, nothing judged before, nothing without a time."""
    lines = [record(1), record(1), record(2, "ack"), record(3, "actionable"), record(4, msg_type="edit")]
    lines += [record(5, create_time="yesterday"), record(6, create_time="2026-11-20T09:00:00"), record(7)]
    judged = {("C1", record(7)["message_id"])}
    found = draw_sample(lines, 10, seed="s", since=SINCE, but=judged)
    assert [each.content for each in found] == ["message 1", "message 2"]


def test_the_same_seed_draws_the_same_and_another_others() -> None:
    """So that two people can judge the same messages."""
    lines = [record(number) for number in range(200)]
    assert draw_sample(lines, 5, seed="a", since=SINCE) == draw_sample(lines, 5, seed="a", since=SINCE)
    assert draw_sample(lines, 5, seed="a", since=SINCE) != draw_sample(lines, 5, seed="b", since=SINCE)


def test_every_message_is_as_likely_as_any_other() -> None:
    """Of 20, 5 are drawn 2,000 times: each some 500 times."""
    lines = [record(number) for number in range(20)]
    drawn = Counter(
        each.content for seed in range(2_000) for each in draw_sample(lines, 5, seed=str(seed), since=SINCE)
    )
    assert len(drawn) == 20
    assert all(400 < times < 600 for times in drawn.values())

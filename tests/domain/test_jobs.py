"""Names of jobs and the order they carry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.alerts import Alert
from bot.domain.events import thread_key
from bot.domain.jobs import WORK_CLASSES, AlertArrived, Job, JobKind, MessageWork, Work, queue_order
from tests.builders import an_event, some_work
from tests.tables import each_row

_IDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789_-", min_size=1, max_size=12)
_JOBS = st.builds(
    Job,
    kind=st.sampled_from(JobKind),
    job_id=_IDS,
    epoch_ms=st.integers(0, 10**14),
    key=st.just("k"),
    work=st.just(some_work("k")),
)


def test_the_name_says_kind_time_and_id() -> None:
    """Names which other programs may list."""
    fields = {"job_id": "000001", "epoch_ms": 1700000000000, "key": "k", "work": some_work("k")}
    assert Job(kind=JobKind.USER, **fields).name == "user_1700000000000_000001.json"
    assert Job(kind=JobKind.HEARTBEAT, **fields).name == "heartbeat_1700000000000_000001.json"


@given(st.lists(_JOBS, max_size=20))
def test_sorting_names_is_sorting_by_priority_age_and_id(jobs: list[Job]) -> None:
    """Property: the order of names is the order of (users first, time, id), ids with underscores included."""
    expected = sorted(jobs, key=lambda job: (job.kind is not JobKind.USER, job.epoch_ms, f"{job.job_id}.json"))
    assert sorted((job.name for job in jobs), key=queue_order) == [job.name for job in expected]


@each_row("name", ["user.json", "user_1.json", "user_soon_1.json"])
def test_a_name_that_is_none_of_ours_has_no_order(name: str) -> None:
    """What was not named by a job raises rather than sorting somewhere."""
    with pytest.raises(ValueError, match=r"unpack|invalid literal"):
        queue_order(name)


def test_every_class_of_work_has_its_own_name_on_disk() -> None:
    """A class without a name could not be queued; the names of these ten never change."""
    concrete = {work for work in _classes(Work) if work is not MessageWork}
    assert set(WORK_CLASSES.values()) == concrete
    assert sorted(WORK_CLASSES) == [
        "alert-arrived",
        "ask-in-ops",
        "continue-thread",
        "follow-up-arrived",
        "mention-instruction",
        "message-deleted",
        "message-edited",
        "question-asked",
        "rebuild-thread",
        "run-beat",
    ]


def test_messages_about_one_alert_have_one_key_whatever_thread_they_stand_in() -> None:
    """And another one than any thread's; a team's alerts are its own."""

    def key(name: str, team: str = "T1", **changes: Any) -> str:
        alert = Alert(tool="", state="firing", name=name, fingerprint=f"x:{name}")
        return AlertArrived(event=an_event(alert=alert, team_id=team, **changes)).key

    assert key("orders-2") == key("orders-2", chat_id="C2", ts="1795165300.000100")
    assert len({key("orders-2"), key("orders-3"), key("orders-2", "T2"), thread_key(an_event())}) == 4


def _classes(base: type[Work]) -> set[type[Work]]:
    return {found for work in base.__subclasses__() for found in {work, *_classes(work)}}

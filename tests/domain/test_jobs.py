"""Names of jobs and the order they carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.domain.jobs import Job, JobKind, queue_order

_IDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789_-", min_size=1, max_size=12)
_JOBS = st.builds(
    Job,
    kind=st.sampled_from(JobKind),
    job_id=_IDS,
    epoch_ms=st.integers(0, 10**14),
    key=st.just("k"),
    payload=st.just({}),
)


def test_the_name_says_kind_time_and_id() -> None:
    """The names of SPEC §3.3, which other programs may list."""
    fields = {"job_id": "000001", "epoch_ms": 1700000000000, "key": "k", "payload": {}}
    assert Job(kind=JobKind.USER, **fields).name == "user_1700000000000_000001.json"
    assert Job(kind=JobKind.HEARTBEAT, **fields).name == "heartbeat_1700000000000_000001.json"


@given(st.lists(_JOBS, max_size=20))
def test_sorting_names_is_sorting_by_priority_age_and_id(jobs: list[Job]) -> None:
    """Property: the order of names is the order of (users first, time, id), ids with underscores included."""
    expected = sorted(jobs, key=lambda job: (job.kind is not JobKind.USER, job.epoch_ms, f"{job.job_id}.json"))
    assert sorted((job.name for job in jobs), key=queue_order) == [job.name for job in expected]


@pytest.mark.parametrize("name", ["user.json", "user_1.json", "user_soon_1.json"])
def test_a_name_that_is_none_of_ours_has_no_order(name: str) -> None:
    """What was not named by a job raises rather than sorting somewhere."""
    with pytest.raises(ValueError, match=r"unpack|invalid literal"):
        queue_order(name)


def test_a_job_survives_json_and_refuses_unknown_fields() -> None:
    """A spool file is read back equal; one of another shape is refused."""
    job = Job(kind=JobKind.USER, job_id="1", epoch_ms=5, key="k", payload={"a": [1]}, failures=("x",))
    assert Job.model_validate_json(job.model_dump_json()) == job
    with pytest.raises(ValidationError):
        Job.model_validate({**job.model_dump(), "shiny": 1})

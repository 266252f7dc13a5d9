"""What only one replica does: taken once, begun anew with each taking, left at an orderly end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.storage.files.file_leases import FileLeases
from bot.errors import StoreError
from bot.runtime.duties import Duty, SessionDuties
from tests.heartbeat.builders import a_session


class Seconds:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_duty_is_one_replicas_until_it_ends(tmp_path: Path) -> None:
    """The second one gets it within a second of the first one's end, and begins anew."""
    begun: list[str] = []
    seconds = Seconds()
    first = Duty("briefs", FileLeases(tmp_path), lambda: begun.append("first"))
    second = Duty("briefs", FileLeases(tmp_path), lambda: begun.append("second"), monotonic=seconds)
    assert (first.take(), first.take(), second.take()) == (True, True, False)
    first.end()
    assert second.take() is False
    seconds.now = 1.0
    assert second.take() is True
    assert begun == ["first", "second"]
    assert first.take() is False


def test_without_leases_every_duty_is_ours(tmp_path: Path) -> None:
    """One process on a data directory asks nobody."""
    done: list[int] = []
    duty = Duty("briefs", None)
    duty.when_ours(lambda: done.append(1))()
    assert done == [1]
    duty.end()
    duty.when_ours(lambda: done.append(2))()
    assert done == [1]


def test_a_beginning_that_fails_is_tried_again() -> None:
    """A disk that refuses what a takeover reads does not leave the duty half begun."""
    tried: list[int] = []

    def begin() -> None:
        tried.append(1)
        if len(tried) == 1:
            raise StoreError("the disk is full")

    duty = Duty("briefs", None, begin)
    with pytest.raises(StoreError):
        duty.take()
    assert duty.take() is True
    assert len(tried) == 2


def test_a_duty_that_is_left_may_come_back(tmp_path: Path) -> None:
    """Another may have it meanwhile; taking it again begins it anew."""
    begun: list[int] = []
    seconds = Seconds()
    duty = Duty("briefs", FileLeases(tmp_path), lambda: begun.append(1), monotonic=seconds)
    assert duty.take() is True
    duty.leave()
    other = FileLeases(tmp_path).take("duty.briefs")
    seconds.now = 2.0
    assert (duty.is_held, duty.take()) == (False, False)
    other.release()
    seconds.now = 4.0
    assert (duty.take(), len(begun)) == (True, 2)


def test_a_session_is_a_replicas_as_long_as_its_folder_is_there(tmp_path: Path) -> None:
    """The one that has the folder takes the session; when the folder goes, another may."""
    folder = tmp_path / "shop"
    folder.mkdir()
    session = a_session(cwd=folder)
    duties = SessionDuties(FileLeases(tmp_path / "leases"), lambda: [session])
    duties.tick()
    assert (duties.has(session.id), duties.elsewhere(session.id)) == (True, True)
    folder.rmdir()
    duties.tick()
    assert (duties.has(session.id), duties.elsewhere(session.id)) == (False, False)
    assert duties.has("gone") is True

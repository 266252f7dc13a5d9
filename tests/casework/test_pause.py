"""While paused nothing that costs money begins, nothing is lost, and everybody can see who paused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.storage.files.file_documents import FileDocuments
from bot.casework.pause import PauseSwitch, read_pause
from bot.domain.threads import ThreadStatus
from tests.builders import an_event
from tests.casework.office import BEN, Office
from tests.fakes import FakeClock
from tests.tables import each_row


@pytest.fixture
def pausing(tmp_path: Path) -> PauseSwitch:
    """The switch of a data directory."""
    return PauseSwitch(FileDocuments(tmp_path), FakeClock())


def test_a_pause_outlives_the_process_and_is_read_beside_it(pausing: PauseSwitch, tmp_path: Path) -> None:
    """Who and since when, until somebody resumes."""
    assert read_pause(FileDocuments(tmp_path)) is None
    assert pausing.pause(by="U2", name="ana")
    again = PauseSwitch(FileDocuments(tmp_path), FakeClock())
    assert again.is_paused
    assert again.words() == pausing.words()
    assert str(again.words()).startswith("paused by @ana since")
    assert again.resume(by="U3")
    assert read_pause(FileDocuments(tmp_path)) is None
    assert not PauseSwitch(FileDocuments(tmp_path), FakeClock()).is_paused


def test_the_first_pause_stands(pausing: PauseSwitch) -> None:
    """A second one changes no name; resuming twice does no harm."""
    pausing.pause(by="U2", name="ana")
    assert not pausing.pause(by="U3", name="ben")
    assert "@ana" in str(pausing.words())
    assert pausing.resume(by="U3")
    assert not pausing.resume(by="U3")


@each_row("content", [b"{", b"[1]", b'{"at": "soon"}', b"\xff", b'{"by": "U1", "name": "a", "at": 7e99}'])
def test_a_pause_that_cannot_be_read_is_a_pause(tmp_path: Path, content: bytes) -> None:
    """Spending goes on only where nobody objected."""
    (tmp_path / "paused.json").write_bytes(content)
    pause = read_pause(FileDocuments(tmp_path))
    assert pause is not None
    assert "cannot be read" in pause.words()


def test_a_question_asked_meanwhile_gets_its_card_and_is_investigated_on_resume(tmp_path: Path) -> None:
    """Also when the bot died in between."""
    office = Office(tmp_path)
    office.pausing.pause(by=BEN, name="ben")
    office.asked()
    assert office.shown.status is ThreadStatus.INVESTIGATING
    assert not office.investigator.assignments
    office.restart()
    assert not office.investigator.assignments
    office.pausing.resume(by=BEN)
    office.work()
    assert office.state.status is ThreadStatus.PENDING_USER
    assert len(office.investigator.assignments) == 1
    assert len(office.messenger.cards) == 1


def test_what_is_withdrawn_meanwhile_is_never_paid_for(tmp_path: Path) -> None:
    """A deletion is heard at once, and the job that waits finds nothing to do."""
    office = Office(tmp_path)
    office.pausing.pause(by=BEN, name="ben")
    office.asked()
    office.says("and how long do we wait?")
    office.arrive(an_event(msg_type="delete"))
    office.work()
    assert office.ended.resolution == "withdrawn"
    office.pausing.resume(by=BEN)
    office.work()
    assert not office.investigator.assignments


def test_a_decision_is_no_expense(tmp_path: Path) -> None:
    """Approve works; asking again waits."""
    office = Office(tmp_path).asked()
    office.pausing.pause(by=BEN, name="ben")
    office.decisions.reinvestigate(office.click(), by=BEN)
    office.work()
    assert office.state.status is ThreadStatus.INVESTIGATING
    assert len(office.investigator.assignments) == 1
    office.pausing.resume(by=BEN)
    office.work()
    office.pausing.pause(by=BEN, name="ben")
    assert office.decisions.approve(office.click(), by=BEN) == "Posted."

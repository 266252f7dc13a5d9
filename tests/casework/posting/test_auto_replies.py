"""A reply without a human: sent once where everything holds, shown, taken back; else it waits with its reasons."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.domain.questions.autonomy_record import AutonomyMode, AutoReply, ConditionCode
from bot.domain.returns import InvestigatorReturn
from bot.domain.threads import Resolution, ThreadStatus
from bot.errors import Conflict, InputError, ProviderError, Unavailable
from bot.ports.collections import AUTO_REPLIES, Collection
from bot.ports.system import Replica
from bot.ports.threads import Threads
from tests.builders import QUESTION_TS, THREAD_ID, a_return, an_event
from tests.casework.four_weeks import AT_WORK, live_four_weeks
from tests.casework.office import ANN, BEN, Office, crash_everywhere
from tests.fakes import FakeClock, Faults
from tests.tables import each_row

LATER = {"start": "10:00", "end": "11:00", "timezone": "UTC"}
ASKED = "Where is the retry limit set?"


HIGH = a_return(confidence="high")


@cache
def four_weeks() -> Path:
    """Return a data directory of four good weeks; each office has a copy of it."""
    folder = Path(_folder().name, "weeks", "home")
    live_four_weeks(FileStore(folder), FakeClock().now())
    return folder


@cache
def armed_weeks() -> Path:
    """Return such a directory after somebody has armed automatic replies."""
    folder = Path(_folder().name, "armed")
    shutil.copytree(four_weeks(), folder / "home")
    Office(folder, HIGH, autonomy="on", working_hours=AT_WORK).arming.turn(AutonomyMode.ON, by=BEN)
    return folder / "home"


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="triage-weeks-")


def office(folder: Path, *drafts: InvestigatorReturn, autonomy: str = "on", armed: bool = True, **known: Any) -> Office:
    """Return an office with four good weeks behind it."""
    known = {"working_hours": AT_WORK, **known}
    shutil.copytree(armed_weeks() if armed else four_weeks(), folder / "home")
    return Office(folder, *(drafts or [HIGH]), autonomy=autonomy, **known)


def on_record(made: Office) -> Office:
    """Put the thread that has ended where the record is counted: the office keeps its threads in memory."""
    threads = Threads(made.past.documents)
    threads.put(made.ended.model_copy(update={"version": 0}))
    threads.archive(made.ended.thread_id)
    return made


def sent(made: Office) -> list[AutoReply]:
    return Collection(made.past.documents, AUTO_REPLIES).all()


def test_a_mentioned_high_confidence_answer_is_sent_without_a_click(tmp_path: Path) -> None:
    """One post, one line in the log with `auto`, one audit card; nobody is named as its approver."""
    made = office(tmp_path).asked(ASKED, mention=True)
    ended = made.ended
    assert (ended.resolution, ended.approved_by, ended.user_approved_at) == (Resolution.AUTO, None, None)
    assert [post.text for post in made.messenger.posts] == [ended.draft_pending]
    (line,) = made.log.records()
    assert (line["auto"], line["approved_by"], line["edited"]) == (True, None, False)
    (one,) = sent(made)
    assert made.audits.cards == {one.id: one.evolve(card_channel=None, card_ts=None, shows_taken_back=None)}
    assert one.posted_message_id == ended.posted_message_id
    assert ended.auto is not None
    assert not ended.auto.missing


@each_row(
    "mention, settings, code",
    [
        (False, {}, ConditionCode.MENTIONED),
        (True, {"working_hours": None}, ConditionCode.WORKING_HOURS),
        (True, {"working_hours": LATER}, ConditionCode.WORKING_HOURS),
    ],
)
def test_a_draft_that_misses_one_condition_waits_and_says_which(
    tmp_path: Path, mention: bool, settings: dict[str, Any], code: ConditionCode
) -> None:
    """For an approver, as ever."""
    made = office(tmp_path, armed="working_hours" not in settings, **settings).asked(ASKED, mention=mention)
    assert made.state.status is ThreadStatus.PENDING_USER
    assert made.state.auto is not None
    assert [one.code for one in made.state.auto.missing] == [code]
    assert not made.messenger.posts
    assert not sent(made)


def test_shadow_marks_and_sends_nothing(tmp_path: Path) -> None:
    """Only drafts that meet everything are marked."""
    made = office(tmp_path, autonomy="shadow", armed=False).asked(ASKED, mention=True)
    assert made.state.auto is not None
    assert made.state.auto.qualifies
    assert not made.messenger.posts
    with pytest.raises(InputError, match="autonomy: shadow"):
        made.arming.turn(AutonomyMode.ON, by=BEN)


def test_the_switch_stops_the_marks_and_starts_them_again(tmp_path: Path) -> None:
    """Off leaves no trace of a draft; arming turns it on again, after a restart, too."""
    made = office(tmp_path)
    made.arming.turn(AutonomyMode.OFF, by=ANN)
    made.restart()
    assert not made.asked(ASKED, mention=True).messenger.posts
    assert made.state.auto is None
    made.arming.turn(AutonomyMode.SHADOW, by=ANN)
    assert made.arming.mode is AutonomyMode.ON
    assert not made.arming.ask().holds
    made.arming.turn(AutonomyMode.ON, by=ANN)
    assert made.arming.ask().holds


def test_what_somebody_wrote_meanwhile_is_left_to_a_human(tmp_path: Path) -> None:
    """The freshness gate is that of an approval."""
    made = office(tmp_path)
    made.changed_refs.add("app/retry.py:10-12")
    made.asked(ASKED, mention=True)
    assert [doubt.code for doubt in made.state.doubts] == ["code-changed"]
    assert not made.messenger.posts


def test_an_edited_question_is_left_to_a_human(tmp_path: Path) -> None:
    """The run reads the new words from the chat, but whether they page is known later, from the event."""
    made = office(tmp_path)
    made.arrive(an_event(ASKED, mentions=("U0BOT",)))
    made.workspace.edit("C1", QUESTION_TS, QUESTION_TS, f"Customers lose money! {ASKED}")
    made.clock.advance(60)
    made.work()
    assert made.state.question.startswith("Customers lose money")
    assert made.state.status is ThreadStatus.PENDING_USER
    assert not made.messenger.posts


def test_a_second_draft_is_never_sent(tmp_path: Path) -> None:
    """A human sent the first one back, so a human decides."""
    second = a_return("It is set in `app/retry.py`.", confidence="high")
    made = office(tmp_path, HIGH, second, armed=False).asked(ASKED, mention=True)
    made.arming.turn(AutonomyMode.ON, by=BEN)
    made.decisions.reinvestigate(made.click(), by=BEN)
    made.work()
    assert made.state.status is ThreadStatus.PENDING_USER
    assert made.state.auto is not None
    assert ConditionCode.UNTOUCHED in [one.code for one in made.state.auto.missing]
    assert not made.messenger.posts


def test_taking_one_back_withdraws_it_and_disarms_at_once(tmp_path: Path) -> None:
    """It counts as a false positive: 1 of 49 is too many; the second click is told who was first."""
    made = on_record(office(tmp_path).asked(ASKED, mention=True))
    (one,) = sent(made)
    assert "was withdrawn" in made.auto.take_back(one.id, by=ANN)
    assert made.audits.withdrawn == [made.ended.posted_message_id]
    assert made.audits.cards[one.id].taken_back_by == ANN
    assert not made.arming.ask().holds
    assert "automatic replies" in made.messenger.told[-1].lower()
    assert "1 of 49 drafts" in made.messenger.told[-1]
    with pytest.raises(Conflict, match=ANN):
        made.auto.take_back(one.id, by=BEN)
    with pytest.raises(InputError):
        made.arming.turn(AutonomyMode.ON, by=BEN)


def test_a_withdrawal_that_slack_refuses_is_counted_and_tried_again(tmp_path: Path) -> None:
    """The record comes first."""
    made = on_record(office(tmp_path).asked(ASKED, mention=True))
    (one,) = sent(made)
    made.audits.refuse = Unavailable("Slack is down", retry_after_s=1)
    assert "tries again" in made.auto.take_back(one.id, by=ANN)
    assert not made.arming.ask().holds
    made.audits.refuse = None
    made.clock.advance(1)
    made.auto.tick()
    assert made.audits.withdrawn == [made.ended.posted_message_id]
    assert sent(made)[0].is_settled


def test_a_reply_slack_refuses_waits_for_a_human(tmp_path: Path) -> None:
    """And gets no audit card; approved then, it is an approved reply."""
    made = office(tmp_path)
    made.messenger.refuse = ProviderError("Slack refused it")
    made.asked(ASKED, mention=True)
    assert made.state.post_intent is None
    made.messenger.refuse = None
    made.decisions.approve(made.click(), by=BEN)
    assert made.ended.resolution is Resolution.APPROVED
    made.auto.tick()
    assert not sent(made)
    assert not made.audits.cards


def test_a_disarmed_switch_is_noticed_at_the_next_draft(tmp_path: Path) -> None:
    """The record is looked at anew before every reply, not only every minute."""
    made = office(tmp_path)
    live_four_weeks(made.past, made.clock.now(), {47: Resolution.EDITED}, channel="C2")
    made.asked(ASKED, mention=True)
    assert made.state.auto is not None
    assert [one.code for one in made.state.auto.missing] == [ConditionCode.ARMED]
    assert "1 of 96 drafts" in made.state.auto.missing[0].said


class Several:
    """Port Replicas, as far as it is asked: processes by the seconds since their last sign of life."""

    def __init__(self, *silent_s: int) -> None:
        self.silent_s = silent_s

    def list(self) -> list[Replica]:
        known = {"host": "box", "version": "1", "role": "work", "runs_for": timedelta(hours=1)}
        return [
            Replica(**known, pid=n, silent_for=timedelta(seconds=s), clock_ahead=timedelta())  # type: ignore[arg-type]
            for n, s in enumerate(self.silent_s)
        ]


def test_replicas_of_a_database_are_no_one_process(tmp_path: Path) -> None:
    """It is refused beside a second one and disarms itself when one appears; one that died does not count."""
    made = office(tmp_path, armed=False)
    made.replicas = Several(2, 3)  # type: ignore[assignment]
    made.restart()
    with pytest.raises(InputError, match="1 other process of this app"):
        made.arming.turn(AutonomyMode.ON, by=BEN)
    made.replicas = Several(2, 300)  # type: ignore[assignment]
    made.restart()
    made.arming.turn(AutonomyMode.ON, by=BEN)
    made.replicas = Several(2, 3, 1)  # type: ignore[assignment]
    made.restart()
    made.arming.tick()
    assert "Automatic replies are off: 2 other processes of this app" in made.messenger.told[-1]
    assert not made.arming.ask().holds


def test_a_lost_record_of_a_sent_reply_keeps_it_disarmed(tmp_path: Path) -> None:
    """Without it nobody knows whether it was taken back."""
    made = office(tmp_path).asked(ASKED, mention=True)
    live_four_weeks(made.past, made.clock.now(), {40: Resolution.AUTO}, channel="C2")
    made.clock.advance(60)
    made.arming.tick()
    assert "records of 1 automatic replies are gone" in made.messenger.told[-1]


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.full)])
def test_wherever_it_dies_it_is_said_once_and_shown_once(tmp_path: Path, every: int) -> None:
    """Sent before the crash: shown. Not sent: it waits for a human. Never both, never twice."""
    number, weeks = itertools.count(), armed_weeks()

    def build(faults: Faults) -> Office:
        folder = tmp_path / str(next(number))
        (folder / "home").mkdir(parents=True)
        for path in weeks.iterdir():
            if path.is_dir():  # of the past; nobody writes there
                (folder / "home" / path.name).symlink_to(path)
            else:
                shutil.copy(path, folder / "home")
        return Office(folder, HIGH, autonomy="on", working_hours=AT_WORK, faults=faults)

    ends = crash_everywhere(build, lambda one: one.asked(ASKED, mention=True), every=every)
    assert len(ends) > 20 // every
    for point, made in ends:
        if not made.jobs.waiting and not made.jobs.running and made.store.get(THREAD_ID) is None and not made.log.lines:
            continue  # nobody has heard the question yet
        made.restart()
        made.auto.tick()
        state = made.store.get(THREAD_ID)
        said = len(made.messenger.posts)
        if state is not None and state.is_open:
            assert (point, said, state.status) == (point, 0, ThreadStatus.PENDING_USER)
            made.decisions.approve(made.click(), by=BEN)
            made.auto.tick()
            assert (point, len(made.messenger.posts), made.audits.cards) == (point, 1, {})
        else:
            assert (point, said, len(made.audits.cards)) == (point, 1, 1)


@each_row(
    "question, draft, code",
    [
        ("Where are cookies signed? Nobody can log in.", {}, ConditionCode.NO_PAGE),
        ("How many orders did customer 4711 place?", {}, ConditionCode.NO_IDS),
        (ASKED, {"touches": "production"}, ConditionCode.FIELDS),
        (ASKED, {"risk": None}, ConditionCode.FIELDS),
        (ASKED, {"confidence": "medium"}, ConditionCode.CONFIDENCE),
    ],
)
def test_what_a_field_or_the_question_forbids_is_never_sent(
    tmp_path: Path, question: str, draft: dict[str, Any], code: ConditionCode
) -> None:
    """However good the weeks before were."""
    made = office(tmp_path, HIGH.model_copy(update=draft)).asked(question, mention=True)
    assert made.state.status is ThreadStatus.PENDING_USER
    assert made.state.auto is not None
    assert [one.code for one in made.state.auto.missing] == [code]
    assert not made.messenger.posts

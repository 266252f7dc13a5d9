"""`triage why`: the chain of a thread, or why there is none, on one screen."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import main
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.casework.posting.reply_proof import reply_record
from bot.domain.alerts import Alert, AlertState, ThreadAlert
from bot.domain.returns import Check, Verdict
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus, Transition
from bot.ports.threads import Threads
from tests.builders import NOW, QUESTION_TS, THREAD_ID, a_return, a_verdict, an_event, in_status

LINK = "https://acme.slack.com/archives/C1/p1795165200000100"
REPLY_TS = "1795165209.000200"
FOUND: dict[str, Any] = {
    "is_bot_mention": False,
    "is_question": True,
    "classification": "actionable",
    "classifier_confidence": 0.9,
    "classifier_version": "7",
    "classified_at": NOW.isoformat(),
}


def answered() -> ThreadState:
    """Return a thread that was bounced once, then passed, was approved and posted."""
    false = Check(name="ref[0].quote", ok=False, reason="the quote is not there")
    bounced = a_verdict(Verdict.BOUNCE, reasons=("the quote is not there",))
    ways = [
        (ThreadStatus.INVESTIGATING, ThreadStatus.AWAITING_VALIDATION, "draft of round 1", 1),
        (ThreadStatus.AWAITING_VALIDATION, ThreadStatus.BOUNCED, "- the quote is not there", None),
        (ThreadStatus.BOUNCED, ThreadStatus.AWAITING_VALIDATION, "draft of round 2", 2),
        (ThreadStatus.AWAITING_VALIDATION, ThreadStatus.PENDING_USER, "validated", None),
    ]
    steps = tuple(
        Transition(at=NOW + timedelta(seconds=n), from_=a, to=b, why=why, round=number)
        for n, (a, b, why, number) in enumerate(ways)
    )
    good = Check(name="ref[0].quote", ok=True, reason="the quote stands there")
    state = in_status(ThreadStatus.PENDING_USER, status_history=steps).evolve(
        rounds=(
            Round(round=1, investigator_return=a_return(), checks=(false,), validator_return=bounced),
            Round(round=2, investigator_return=a_return(), checks=(good,), validator_return=a_verdict()),
        ),
        investigator_round=2,
        approved_by="U2",
        user_approved_at=NOW + timedelta(minutes=1),
        posted_message_id="1795165300.000900",
        draft_pending=a_return().draft_reply,
    )
    return state.close(Resolution.APPROVED, at=NOW + timedelta(minutes=1), why="approved by <@U2>")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with an answered question, a message left alone, and a hostile follow-up."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    journal = NdjsonJournal(tmp_path / "events-classified.ndjson")
    journal.append(an_event().model_dump(mode="json") | FOUND)
    journal.append(an_event().model_dump(mode="json") | FOUND)
    reply = an_event("thanks \x1b[31m\u202e", ts=REPLY_TS, thread_id=QUESTION_TS).model_dump(mode="json")
    journal.append(reply | FOUND | {"is_question": False, "is_ack_or_emoji": True, "classification": "ack"})
    other = an_event("lunch at noon", ts="1795169999.000100").model_dump(mode="json")
    journal.append(other | FOUND | {"is_question": False, "classification": "ambient"})
    state = answered()
    store = Threads(FileDocuments(tmp_path))
    store.put(state)
    store.archive(THREAD_ID)
    NdjsonJournal(tmp_path / "replies.ndjson").append(reply_record(state, at=NOW + timedelta(minutes=1)))
    return tmp_path


@pytest.mark.parametrize(
    "asked",
    [
        THREAD_ID,
        LINK,
        f"https://acme.slack.com/archives/C1/p1795165209000200?thread_ts={QUESTION_TS}&cid=C1",
        "https://acme.slack.com/archives/C1/p1795165209000200",
    ],
)
def test_the_whole_chain_fits_a_screen(home: Path, capsys: pytest.CaptureFixture[str], asked: str) -> None:
    """By id, by link, and by a link to a reply that does not name its thread."""
    assert main(["why", asked]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith(f"{THREAD_ID}  closed (approved)")
    order = [
        "U1 in C1: “How often do we retry?”",
        "actionable: is a question (confidence 0.9, rules 7)",
        "ack: is an acknowledgement",
        "→ awaiting-validation: draft of round 1",
        "round 1: medium, 1 citation; checks 0 ok, 1 failed, 0 open; bounce by",
        "✗ ref[0].quote: the quote is not there",
        "→ bounced-round-1",
        "round 2:",
        "→ pending-user: validated",
        "→ closed: approved by U2",
        "posted as 1795165300.000900: bounce-then-pass, after 1.0 min",
        "cites     ✓ app/retry.py:10-12 at aaaaaaa",
        f"Next: triage verify {THREAD_ID} --lines",
    ]
    places = [out.index(words) for words in order]
    assert places == sorted(places)
    assert out.count("How often do we retry?") == 1
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_an_alert_is_explained_by_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """No rule about words was asked; what the tool said since stands behind the steps."""
    monkeypatch.setenv("TRIAGE_HOME", str(tmp_path))
    said = Alert(tool="pagerduty", state=AlertState.FIRING, name="CPU", fingerprint="x")
    event = an_event("CPU", alert=said).model_dump(mode="json")
    NdjsonJournal(tmp_path / "events-classified.ndjson").append(event | FOUND | {"is_question": False})
    again = ThreadAlert.of_first(said, QUESTION_TS, NOW).after(said, "1795165260.000100", NOW + timedelta(minutes=1))
    Threads(FileDocuments(tmp_path)).put(in_status(ThreadStatus.PENDING_USER, PendingReason.CONTEXT, alert=again))
    assert main(["why", THREAD_ID]) == 0
    out = capsys.readouterr().out
    assert "actionable: pagerduty alert that is firing (confidence 0.9, rules 7)" in out
    assert "the alert is firing; it fired 2 times, last at" in out


def test_a_message_left_alone_is_explained(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the rules saw, and that nothing was done."""
    assert main(["why", "https://acme.slack.com/archives/C1/p1795169999000100"]) == 0
    out = capsys.readouterr().out
    assert "“lunch at noon”" in out
    assert "ambient: no rule found a request in it" in out
    assert "So nothing was done." in out


@pytest.mark.usefixtures("home")
def test_of_what_is_not_on_record_is_said_where_to_look(capsys: pytest.CaptureFixture[str]) -> None:
    """Also of what is neither a link nor an id."""
    for asked, words in (("T1.C1.1795165999.000100", "there is no record of"), ("the retry one", "copied from Slack;")):
        assert main(["why", asked]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert words in said
        assert said.endswith("`triage status` lists the open threads")


def test_json_holds_all_that_is_on_record(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Events, thread, replies."""
    assert main(["why", THREAD_ID, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [event["classification"] for event in said["events"]] == ["actionable", "ack"]
    assert said["thread"]["resolution"] == "approved"
    assert said["replies"][0]["approved_by"] == "U2"


def test_a_thread_whose_file_is_damaged_is_not_called_unanswered(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message is shown, and which file to look at."""
    event = an_event(ts="1795168888.000100").model_dump(mode="json")
    NdjsonJournal(home / "events-classified.ndjson").append(event | FOUND)
    thread_id = THREAD_ID.replace(QUESTION_TS, "1795168888.000100")
    (home / "state" / f"{thread_id}.json").write_text('{"half')
    assert main(["why", thread_id]) == 0
    out = capsys.readouterr().out
    assert f"state/{thread_id}.json cannot be read; leave it" in " ".join(out.split())
    assert "It has no thread" not in out


def test_long_words_are_cut_and_many_steps_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever people and models wrote, one screen is enough."""
    long = "x" * 3_000 + " y" * 2_000
    step = Transition(at=NOW, from_=ThreadStatus.INVESTIGATING, to=ThreadStatus.INVESTIGATING, why=long)
    faults = tuple(Check(name=f"ref[{n}].quote", ok=False, reason=long) for n in range(20))
    rounds = tuple(Round(round=n, investigator_return=a_return(), checks=faults) for n in (1, 2))
    open_one = in_status(ThreadStatus.INVESTIGATING, question=long, status_history=(step,) * 200, rounds=rounds)
    Threads(FileDocuments(home)).put(open_one)
    assert main(["why", THREAD_ID]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 64

"""`/triage heartbeat …`: one screen, at once, and nothing changed by those who may not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.casework.approvers import Approvers
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import BeatResult, Delivered, Envelope, Indicator, Wake
from bot.domain.heartbeats.session_state import Failures
from bot.heartbeat.session_controls import MAX_CHARS, SessionControls
from handlers.commands.dispatcher import NO_MEMBER, CommandDispatcher
from handlers.commands.topics import SessionCommand
from tests.blocks.limits import texts
from tests.heartbeat.builders import OWNERS
from tests.heartbeat.clockwork import START, Clockwork, beat_of
from tests.payloads import payload
from tests.tables import each_row

APPROVER, OWNER, OTHER = "U2", "U0ANN", "U0EVE"


@pytest.fixture
def works(tmp_path: Path) -> Clockwork:
    """Two sessions of Ann's."""
    works = Clockwork(
        tmp_path, "shop-api", "tooling", every="30m", active_hours={"start": "00:00", "end": "24:00", "timezone": "UTC"}
    )
    works.tick()
    return works


def answer(works: Clockwork, text: str, by: str = APPROVER, team: str = "T1", running: str = "") -> str:
    """Type a command and return what it says."""
    works.workspace.groups["C0OPS"] = frozenset({APPROVER})
    approvers = Approvers(None, ops_channel="C0OPS", team_id="T1", workspace=works.workspace)
    approvers.refresh()
    controls = SessionControls(
        sessions=works.sessions,
        store=works.store,
        overrides=works.overrides,
        wake=works.scheduler.wake,
        wakes=works.box,
        cancel=lambda session_id: session_id == running,
        known_secrets={"known-to-us"},
        record=works.record,
        zones=works.zones,
        clock=works.clock,
    )
    command = SessionCommand(controls.answer, OWNERS, approvers)
    answers: list[dict[str, Any]] = []
    body = {**payload("slash_command"), "text": text, "user_id": by, "user_name": "ana", "team_id": team}
    CommandDispatcher({"heartbeat": command}, approvers, patience_s=600)(
        lambda **given: answers.append(given), body, lambda **given: answers.append(given)
    )  # type: ignore[arg-type]
    given = answers[-1]
    assert given["response_type"] == "ephemeral"
    said = list(texts(given["blocks"]))
    assert all(len(words) <= 3_000 for words in said)
    assert len(given["blocks"]) <= 50
    return "\n".join(said)


def note(works: Clockwork, result: BeatResult, indicator: Indicator, **given: Any) -> None:
    fields = {"ts": START, "session_id": "shop-api", "workspace_dir": "/x", "reason": Wake.INTERVAL, **given}
    works.record.append(Envelope(**fields, result=result, indicator=indicator))


def test_the_list_says_how_every_session_stands(works: Clockwork) -> None:
    """Its emoji is that of its last beat that ran; refusals at night do not hide it."""
    note(works, BeatResult.SENT, Indicator.ALERT, delivered=Delivered(mode="last", channel="slack", to="D0ANN"))
    note(works, BeatResult.SKIPPED, Indicator.NONE, why="outside hours: night", ts=START + timedelta(hours=1))
    finding = OpenFinding(key="k", task="t", text="red", first_at=START, last_at=START, sent_at=START)
    works.store.save("shop-api", lambda state: state.evolve(findings={"k": finding}))
    paused = Failures(key="refused", count=6, paused_until=START + timedelta(hours=3))
    works.store.save("tooling", lambda state: state.evolve(failures=paused))
    works.clock.advance(720)
    seen = answer(works, "heartbeat list", by=OTHER)
    assert "shop-api\nalert\n1\nin 5 min\n12 min ago: alert sent\nevery 30m · 00:00-24:00 UTC" in seen
    assert "\ntooling\npaused\n" in seen
    assert "paused after 6 failures: refused" in seen
    assert "Next: `/triage heartbeat why shop-api`" in seen
    assert answer(works, "heartbeat") == answer(works, "heartbeat list")


@pytest.mark.parametrize("by", [APPROVER, OWNER])
def test_a_pace_is_set_shown_and_given_back(works: Clockwork, by: str) -> None:
    """It survives a restart; the list says who and what it was."""
    assert answer(works, "heartbeat every shop-api 15m", by).startswith("shop-api is checked every 15m.")
    works.restarted()
    assert "every 15m" in answer(works, "heartbeat list")
    assert "`every` was set by @ana on <!date^" in answer(works, "heartbeat list")
    assert answer(works, "heartbeat every shop-api default", by) == "shop-api is checked every 30m, as triage.yml says."
    assert "set by" not in answer(works, "heartbeat list")


@pytest.mark.parametrize("by", [APPROVER, OWNER])
def test_an_assignment_waits_in_the_inbox_and_wakes_its_session(works: Clockwork, by: str) -> None:
    """Word for word, without secrets, under the name of who typed it."""
    seen = answer(works, "heartbeat assign shop-api Why *5xx* since   noon? known-to-us", by)
    assert seen.startswith("Assigned to shop-api: “Why *5xx* since noon? ")
    assert "A check of shop-api is queued. Result: /triage heartbeat why shop-api" in seen
    [message] = works.store.inbox("shop-api")
    assert message.text.startswith("Why *5xx* since   noon? ")
    assert "known-to-us" not in message.text + seen
    assert (message.from_, message.kind, message.data["assigned_by"]) == ("@ana", "assignment", by)
    assert [beat_of(job).wake for job in works.run_all()] == ["assignment"]


def test_an_assignment_outlives_a_kill_before_its_wake(works: Clockwork, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next start wakes for it."""
    monkeypatch.setattr(works.scheduler, "_do_what_is_due", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        answer(works, "heartbeat assign shop-api Look")
    works.restarted().tick()
    assert [beat_of(job).wake for job in works.run_all() if job.key == "shop-api"] == ["assignment"]


@each_row(
    "text, says",
    [
        ("shop-api", "What is to be done?"),
        ("shop-api \u2800", "What is to be done?"),
        ("shop-api \u3164", "What is to be done?"),
        ("shop-api " + "x" * (MAX_CHARS + 1), "at most 2,000"),
        ("shop-apy Look", "did you mean shop-api?"),
        ("", "Name a session; there are shop-api, tooling"),
    ],
)
def test_what_cannot_be_assigned_is_not(works: Clockwork, text: str, says: str) -> None:
    """With a sentence; nothing is queued."""
    assert says in answer(works, f"heartbeat assign {text}")
    assert works.store.inbox("shop-api") == []
    assert works.jobs.waiting == {}


def test_why_gathers_what_stood_beside_ok(works: Clockwork) -> None:
    """Of all beats of about a day, not of the latest alone, each with its time; others get none."""
    for hours, said in ((-13, "two PRs wait"), (-1, "a branch is old"), *((0, "") for _ in range(9))):
        note(works, BeatResult.OK_TOKEN, Indicator.OK, ts=START + timedelta(hours=hours), beside_ok=said)
    seen = answer(works, "heartbeat why shop-api", OWNER)
    assert seen.index("*Said beside OK*") < seen.index("“a branch is old”") < seen.index("“two PRs wait”")
    assert "branch" not in answer(works, "heartbeat why shop-api", OTHER)


def test_what_a_beat_found_is_for_the_owner_and_approvers(works: Clockwork) -> None:
    """Others see the way it went."""
    note(works, BeatResult.OK_TOKEN, Indicator.OK, ts=START - timedelta(hours=1))
    note(works, BeatResult.SENT, Indicator.ALERT, preview="the <key> leaked")
    for verb in ("why", "log"):
        for by in (APPROVER, OWNER):
            assert "the &lt;key&gt; leaked" in answer(works, f"heartbeat {verb} shop-api", by)
        assert "leaked" not in answer(works, f"heartbeat {verb} shop-api", OTHER)
    seen = answer(works, "heartbeat why shop-api", OTHER)
    assert "■ *End* alert sent" in seen
    assert "not been checked yet" in answer(works, "heartbeat why tooling")
    assert "not been checked yet" in answer(works, "heartbeat log tooling")


@each_row("text", ["on shop-api", "off shop-api", "every shop-api 15m", "run shop-api", "assign shop-api Look"])
@each_row("by, team", [(OTHER, "T1"), (OWNER, "T0OTHER"), (APPROVER, "T0OTHER")])
def test_who_may_not_changes_nothing(works: Clockwork, text: str, by: str, team: str) -> None:
    """An id alone is not enough: it is the user of this workspace who may."""
    refusal = "Only approvers and the owner of shop-api may do that" if team == "T1" else NO_MEMBER
    assert refusal in answer(works, f"heartbeat {text}", by, team)
    assert works.overrides.by_id() == {}
    assert works.jobs.waiting == {}
    assert works.store.inbox("shop-api") == []

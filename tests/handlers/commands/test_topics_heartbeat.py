"""`/triage heartbeat …`: one screen, at once, and nothing changed by those who may not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.casework.approvers import Approvers
from bot.domain.heartbeats.alerts import OpenFinding
from bot.domain.heartbeats.beats import Assigned, BeatResult, BeatStep, Delivered, Envelope, Indicator, Wake
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


def test_a_repeat_that_cost_a_run_is_the_last_beat_and_says_what_still_stands(works: Clockwork) -> None:
    """Not skipped, and not the beat before it; what nobody was told of says so."""
    note(works, BeatResult.OK_TOKEN, Indicator.OK, ts=START - timedelta(hours=3))
    note(works, BeatResult.SKIPPED, Indicator.ALERT, step=BeatStep.DEDUPE, why="dedupe: already sent", preview="red")
    told = OpenFinding(key="k", task="t", text="red", first_at=START, last_at=START)
    works.store.save("shop-api", lambda state: state.evolve(findings={"k": told}))
    works.clock.advance(600)
    assert "ago: nothing new to tell\n" in answer(works, "heartbeat list")
    note(works, BeatResult.SKIPPED, Indicator.ALERT, step=BeatStep.DELIVERY, why="delivery: only to the log")
    seen = answer(works, "heartbeat list", by=OTHER)
    assert "shop-api\nalert\n1\n" in seen
    assert "told nobody" in seen


def test_without_sessions_the_list_says_where_to_add_one(tmp_path: Path) -> None:
    """Nothing happens, and that is said."""
    assert "Add one under `sessions:` in triage.yml" in answer(Clockwork(tmp_path), "heartbeat list")


@pytest.mark.parametrize("by", [APPROVER, OWNER])
def test_a_pace_is_set_shown_and_given_back(works: Clockwork, by: str) -> None:
    """It survives a restart; the list says who and what it was."""
    assert answer(works, "heartbeat every shop-api 15m", by).startswith("shop-api is checked every 15m.")
    works.restarted()
    assert "every 15m" in answer(works, "heartbeat list")
    assert "`every` was set by @ana on <!date^" in answer(works, "heartbeat list")
    assert answer(works, "heartbeat every shop-api default", by) == "shop-api is checked every 30m, as triage.yml says."
    assert "set by" not in answer(works, "heartbeat list")


def test_a_session_is_switched_off_and_on(works: Clockwork) -> None:
    """Off, no wake starts a beat."""
    assert "being stopped" in answer(works, "heartbeat off shop-api", running="shop-api")
    assert "being stopped" not in answer(works, "heartbeat off shop-api")
    assert "is off" in answer(works, "heartbeat off shop-api")
    seen = answer(works, "heartbeat list")
    assert "shop-api\noff\n" in seen
    assert "`enabled` was set by @ana on <!date^" in seen
    assert "No check of shop-api: disabled" in answer(works, "heartbeat run shop-api")
    assert "is on" in answer(works, "heartbeat ON shop-api")
    assert "set by" not in answer(works, "heartbeat list")


def test_a_beat_is_started_by_hand(works: Clockwork) -> None:
    """Twice is one."""
    assert "A check of shop-api is queued" in answer(works, "heartbeat run shop-api", OWNER)
    assert "queued behind the one that" in answer(works, "heartbeat run shop-api", OWNER)
    assert [beat_of(job).wake for job in works.run_all()] == ["on_demand"]


@each_row("text", ["on shop-api", "off shop-api", "every shop-api 15m", "run shop-api", "assign shop-api Look"])
@each_row("by, team", [(OTHER, "T1"), (OWNER, "T0OTHER"), (APPROVER, "T0OTHER")])
def test_who_may_not_changes_nothing(works: Clockwork, text: str, by: str, team: str) -> None:
    """An id alone is not enough: it is the user of this workspace who may."""
    refusal = "Only approvers and the owner of shop-api may do that" if team == "T1" else NO_MEMBER
    assert refusal in answer(works, f"heartbeat {text}", by, team)
    assert works.overrides.by_id() == {}
    assert works.jobs.waiting == {}
    assert works.store.inbox("shop-api") == []


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


def test_an_assignment_to_a_session_that_is_off_waits_for_its_next_beat(works: Clockwork) -> None:
    """And says so; with the session on again its interval beats read it."""
    answer(works, "heartbeat off shop-api")
    seen = answer(works, "heartbeat assign shop-api Look")
    assert "waits in the inbox" in seen
    assert "No check of shop-api: disabled" in seen
    assert len(works.store.inbox("shop-api")) == 1


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


def test_characters_that_nobody_sees_are_not_assigned(works: Clockwork) -> None:
    """What is shown is all that the session gets."""
    assert "“Look here”" in answer(works, "heartbeat assign shop-api Look\u202e here\U000e0041")
    assert [message.text for message in works.store.inbox("shop-api")] == ["Look here"]


def test_who_assigned_what_is_for_those_who_may_read_it(works: Clockwork) -> None:
    """In the log and in the way of the beat."""
    given = (Assigned(by="@ana", text="Why <5xx>?"), Assigned(by="master", text="Compare"))
    note(works, BeatResult.OK_TOKEN, Indicator.OK, reason=Wake.ASSIGNMENT, assignments=given)
    for verb in ("why", "log"):
        seen = answer(works, f"heartbeat {verb} shop-api", OWNER)
        assert "assigned by @ana: “Why &lt;5xx&gt;?”" in seen
        assert "assigned by master: “Compare”" in seen
        assert "5xx" not in answer(works, f"heartbeat {verb} shop-api", OTHER)


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


@each_row(
    "text, says",
    [
        ("why shop-apy", "There is no session 'shop-apy'; did you mean shop-api?"),
        ("why", "Name a session; there are shop-api, tooling"),
        ("every shop-api", "'' is not an interval; write for example"),
        ("every shop-api often", "'often' is not an interval; write for example"),
        ("every shop-api 5s", "5s is not between 1m and 366d"),
        ("lst", "There is no `/triage heartbeat lst`, and nothing was done. Did you mean `/triage heartbeat list`?"),
        ("help", "`/triage heartbeat run &lt;session&gt;`"),
        ("<!channel>", "There is no `/triage heartbeat channel`"),
        ("why " + "x" * 5_000, "There is no session"),
    ],
)
def test_a_slip_of_the_pen_is_met_with_what_to_type(works: Clockwork, text: str, says: str) -> None:
    """Whatever was typed."""
    assert says in answer(works, f"heartbeat {text}")


def test_a_long_history_fits_one_screen(works: Clockwork) -> None:
    """However long its lines."""
    for _ in range(40):
        note(works, BeatResult.FAILED, Indicator.ERROR, error="`" * 3 + "<&>" * 500)
    assert len(answer(works, "heartbeat log shop-api").splitlines()) <= 20
    assert "■ *End* failed" in answer(works, "heartbeat why shop-api")


def test_many_sessions_fit_one_screen(tmp_path: Path) -> None:
    """A row each, as many as a table holds; the others are counted."""
    works = Clockwork(tmp_path, *(f"s{n}" for n in range(120)))
    assert "… and 21 more rows" in answer(works, "heartbeat list")


def test_a_full_disk_is_told(works: Clockwork) -> None:
    """In words, to whoever typed."""
    works.storage.documents.full = True
    assert "No space left on device" in answer(works, "heartbeat off shop-api")

"""What a beat sees before anybody thinks, and when nobody has to."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.heartbeats.alerts import FLAGS, MESSAGE, OpenFinding
from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState, SpentToday
from bot.domain.playbook import parse
from bot.domain.playbooks.playbook_entries import task_id
from bot.domain.tiers import Tier
from bot.heartbeat.run.beat_record import BeatStart
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.inputs import is_unchanged, stamps_of, still_standing
from bot.heartbeat.run.probes import ProbeReport, ProbeResult, Probes
from bot.heartbeat.run.receipts import seen_by_code
from bot.heartbeat.sessions.session_registry import SessionMemory
from tests.fakes import MemoryStore
from tests.gitrepo import make_repo
from tests.heartbeat.builders import AT, a_session, a_view, input_collector

STATUS = ("git", "status", "--porcelain")
QUICK = "## Quick\n\n- [ ] Tree: `git status --porcelain`\n"
BEGUN = BeatStart(run_id="beat-shop-1", wake=Wake.INTERVAL, stamp_at=AT, started_at=AT)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", {"a.py": "x = 1\n", ".gitignore": "HEARTBEAT.md\n"})


def look(repo: Path, text: str, state: SessionState | None = None, store: SessionMemory | None = None) -> BeatView:
    """Look around in a checkout with this playbook."""
    (repo / "HEARTBEAT.md").write_text(text)
    session = a_session(repo, beat={"commands": [list(STATUS)]})
    store = store or SessionMemory(MemoryStore())
    store.save(session.id, lambda now: state or now)
    return input_collector(Probes({"PATH": "/usr/bin:/bin"}), store).collect(session, BEGUN, threading.Event())


def again(view: BeatView, **changes: Any) -> SessionState:
    """Return the state after a good beat in the morning."""
    stamps = dict.fromkeys(Tier, AT - timedelta(minutes=10))
    return SessionState(probes=view.probes.digests(), stamps=stamps).evolve(**changes)


def test_without_stamps_in_the_file_those_of_the_state_count(repo: Path) -> None:
    """With a Timestamps section only the file does, whatever it says."""
    kept = SessionState(stamps=dict.fromkeys(Tier, AT))
    assert stamps_of(parse(QUICK), kept).daily == AT
    assert stamps_of(parse("## Timestamps\n\n- Last daily: (never)\n\n" + QUICK), kept).daily is None
    assert look(repo, QUICK).tier is Tier.DAILY
    assert look(repo, QUICK, kept).tier is Tier.QUICK


def test_the_highest_due_tier_brings_the_lower_ones_along(repo: Path) -> None:
    """And nothing of a tier that is not due."""
    text = f"{QUICK}\n## Hourly\n\n- [ ] Disk\n\n## Daily\n\n- [ ] Summary\n"
    hourly = SessionState(stamps={**dict.fromkeys(Tier, AT), Tier.HOURLY: AT - timedelta(minutes=60)})
    assert [task.text for task in look(repo, text, hourly).tasks] == ["Tree: `git status --porcelain`", "Disk"]
    assert len(look(repo, text).tasks) == 3


def test_a_repository_in_which_nothing_happened_needs_no_thought(repo: Path) -> None:
    """Every due task answered by a command, every output as it was."""
    first = look(repo, QUICK)
    assert not is_unchanged(first)
    assert is_unchanged(look(repo, QUICK, again(first)))
    (repo / "b.py").write_text("y")
    assert not is_unchanged(look(repo, QUICK, again(first)))


def test_whatever_code_cannot_answer_needs_thought(repo: Path) -> None:
    """A task in words, a command that is not allowed, a flag, mail, a due daily tier."""
    first = look(repo, QUICK)
    state = again(first)
    assert not is_unchanged(look(repo, QUICK + "- [ ] Is the deploy healthy?\n", state))
    assert not is_unchanged(look(repo, QUICK + "- [ ] Disk: `df -h`\n", state))
    assert not is_unchanged(look(repo, "## Urgent Flags\n\n- Fire\n\n" + QUICK, state))
    assert not is_unchanged(look(repo, QUICK, again(first, stamps={})))
    store = SessionMemory(MemoryStore())
    store.send(InboxMessage(at=AT, from_="master", to="shop", kind=MessageKind.REPORT, text="Look."))
    assert not is_unchanged(look(repo, QUICK, state, store))


def test_the_playbooks_own_flags_are_answered_without_running_anything(repo: Path) -> None:
    """Though no template allows that command."""
    view = look(repo, "## Urgent Flags\n\n- Fire\n\n## Quick\n\n- [ ] Flags: `triage flags`\n")
    [result] = view.probes.results
    assert (result.argv, result.output) == (FLAGS_COMMAND, "Fire")


def test_what_was_spent_counts_for_its_day_only(repo: Path) -> None:
    """The day is UTC's."""
    assert look(repo, QUICK, SessionState(spent=SpentToday(day="2026-11-21", usd=0.4))).spent_usd == 0.4
    assert look(repo, QUICK, SessionState(spent=SpentToday(day="2026-11-20", usd=0.4))).spent_usd == 0.0


def test_what_stands_is_said_again_by_a_beat_without_news(tmp_path: Path) -> None:
    """Findings of checks that are made, and flags; a message that was sent stands for itself, an unsent one is owed."""

    def found(key: str, task: str, **more: Any) -> OpenFinding:
        return OpenFinding(key=key, task=task, text=key, first_at=AT, last_at=AT, **more)

    known = (
        found("red", task_id("Look")),
        found("gone", "ci"),
        found("told", MESSAGE, sent_at=AT),
        found("owed", MESSAGE),
    )
    view = a_view(tmp_path, text="## Urgent Flags\n\n- Fire\n\n## Quick\n\n- [ ] Look\n", open_findings=known)
    assert [each.key for each in still_standing(view)][:2] == ["red", "owed"]
    assert [each.task for each in still_standing(view)][2:] == [FLAGS]


def test_a_failing_check_says_what_it_prints_now(tmp_path: Path) -> None:
    """Though no model is asked for a change of a count; what a model said of it stays."""
    task = parse("- The pods: `./check all`").tasks(Tier.QUICK)[0]

    def printed(output: str) -> ProbeResult:
        problem = f"`./check all` failed: {output}"
        return ProbeResult(argv=("./check", "all"), output=output, exit_code=1, seconds=0.1, problem=problem)

    def look(result: ProbeResult, *known: OpenFinding) -> BeatView:
        probes = ProbeReport(results=(result,), wanted=((task.id, result.argv),))
        return a_view(tmp_path, text="- The pods: `./check all`", probes=probes, open_findings=known)

    [found] = seen_by_code(look(printed("3 pods not ready")))
    for said, expected in ((found.text, "4 pods"), ("Three pods hang.", "Three pods hang.")):
        known = OpenFinding(key=found.key, task=str(found.task), text=said, first_at=AT, last_at=AT)
        [standing] = still_standing(look(printed("4 pods not ready"), known))
        assert expected in standing.text
        assert standing.key == found.key

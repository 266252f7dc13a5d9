"""What a beat sees before anybody thinks, and when nobody has to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.heartbeats.allowed_commands import FLAGS_COMMAND
from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import InboxMessage, MessageKind, SessionState, SpentToday
from bot.domain.playbook import parse
from bot.domain.tiers import Tier
from bot.heartbeat.playbook_file import stamps_of
from bot.heartbeat.run.beat_record import BeatStart, BeatView
from bot.heartbeat.run.findings import is_unchanged
from bot.heartbeat.run.probes import Probes
from bot.heartbeat.session_registry import SessionMemory
from tests.fakes import MemoryStore
from tests.gitrepo import make_repo
from tests.heartbeat.builders import AT, a_session, input_collector

STATUS = ("git", "status", "--porcelain")
QUICK = "## Quick\n\n- [ ] Tree: `git status --porcelain`\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "shop", {"a.py": "x = 1\n", ".gitignore": "HEARTBEAT.md\n"})


def look(repo: Path, text: str, state: SessionState | None = None, store: SessionMemory | None = None) -> BeatView:
    """Look around in a checkout with this playbook."""
    (repo / "HEARTBEAT.md").write_text(text)
    session = a_session(repo, beat={"commands": [list(STATUS)]})
    store = store or SessionMemory(MemoryStore())
    store.save(session.id, lambda now: state or now)
    begun = BeatStart(session=session, run_id="beat-shop-1", wake=Wake.INTERVAL, stamp_at=AT, started_at=AT)
    return input_collector(Probes({"PATH": "/usr/bin:/bin"}), store).collect(begun)


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

"""A session without its folder, or without a way to be told, is broken alone: its owner is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.domain.heartbeats.beats import Wake
from bot.domain.heartbeats.session_state import SessionState, SpentToday
from bot.errors import Unavailable
from bot.heartbeat.scheduler import Admission
from bot.heartbeat.session_controls import SessionFaults
from bot.heartbeat.session_registry import Owners, SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES, SESSIONS
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore, in_memory
from tests.heartbeat.builders import alert_router
from tests.heartbeat.clockwork import session_settings
from tests.heartbeat.surface import FakeSurface


class Watch:
    """Two sessions, one of which may lose its folder."""

    def __init__(self, folder: Path) -> None:
        self.disk = MemoryStore()
        self.clock, self.store = FakeClock(), SessionMemory(self.disk)
        self.ops: list[str] = []
        self.gone, self.there = folder / "gone", folder / "there"
        self.there.mkdir()
        named = {path.name: session_settings(path) for path in (self.gone, self.there)}
        self.sessions = SessionRegistry(named, in_memory(OVERRIDES))
        self.slack = FakeSurface()
        self.restart("slack", "webhook")

    def restart(self, *surfaces: str) -> None:
        """Begin anew with these ways to reach people."""
        alerts = alert_router(dict.fromkeys(surfaces, self.slack), self.store, self.clock, self.ops.append)
        zones = Owners(FakeWorkspace(), self.clock, local="UTC")
        self.admission = Admission(zones, route=alerts.route)
        self.faults = SessionFaults(self.sessions, self.store, self.clock, alerts, self.admission)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(alert.session_id, alert.text) for _, alert in self.slack.sent]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """Two sessions; the folder of one is missing."""
    return Watch(tmp_path)


def test_the_owner_is_told_once_and_nobody_else_is(watch: Watch) -> None:
    """With the path and what to do; also after a restart, for that is on file."""
    watch.faults.check()
    watch.faults.check()
    watch.restart("slack")
    watch.faults.check()
    [(who, text)] = watch.told
    assert who == "gone"
    assert text.startswith(f"gone: heartbeats are stopped: no folder: {watch.gone} is not there")
    assert "sessions.gone.cwd" in text


def test_who_cannot_be_told_now_is_told_later(watch: Watch) -> None:
    """An outage loses nothing."""
    watch.slack.refuses = Unavailable("Slack is down")
    watch.faults.check()
    watch.slack.refuses = None
    watch.faults.check()
    assert len(watch.told) == 1


def test_a_folder_that_comes_back_and_goes_again_is_told_again(watch: Watch) -> None:
    """Each time it goes missing is a trouble of its own."""
    watch.faults.check()
    watch.gone.mkdir()
    watch.faults.check()
    watch.gone.rmdir()
    watch.faults.check()
    assert [who for who, _ in watch.told] == ["gone", "gone"]


def test_it_does_not_beat_meanwhile_and_does_again_by_itself(watch: Watch) -> None:
    """The gate says why, for it alone."""
    admission = watch.admission
    for name, why in (("gone", "no folder: "), ("there", None)):
        refused = next(
            admission.refusals(watch.sessions.get(name), SessionState(), Wake.ON_DEMAND, watch.clock.now()), None
        )
        assert (refused is None) if why is None else (refused is not None and refused.why.startswith(why))
    watch.gone.mkdir()
    assert (
        next(admission.refusals(watch.sessions.get("gone"), SessionState(), Wake.ON_DEMAND, watch.clock.now()), None)
        is None
    )


def test_a_session_whose_alerts_have_no_way_to_go_is_told_of_once(watch: Watch) -> None:
    """With the variable to set. Once it is set the session is whole; lost again, that is told again."""
    watch.gone.mkdir()
    deliver = {"mode": "explicit", "channel": "telegram", "to": "77"}
    settings = {"gone": session_settings(watch.gone, deliver=deliver), "there": session_settings(watch.there)}
    watch.sessions.replace(settings)
    for surfaces in (("slack",), ("slack",), ("slack", "telegram"), ("slack",)):
        watch.restart(*surfaces)
        watch.faults.check()
    (who, text), again = watch.told
    assert who == "gone"
    assert "TELEGRAM_BOT_TOKEN is not set. Put it into .env" in text
    assert "sessions.gone.heartbeat.deliver" in text
    assert again == (who, text)


def test_the_owner_is_told_once_a_day_that_the_money_is_spent(watch: Watch) -> None:
    """Until midnight no check of the session is made."""
    watch.sessions.replace({"there": session_settings(watch.there, daily_budget_usd=0.5)})
    spent = SpentToday(day=f"{watch.clock.now():%Y-%m-%d}", usd=0.52)
    watch.store.save("there", lambda state: state.evolve(spent=spent))
    watch.faults.check()
    watch.faults.check()
    [(_, text)] = watch.told
    assert "budget spent: 0.52 of 0.50 USD today" in text
    watch.clock.advance(86_400)
    watch.faults.check()
    assert watch.store.load("there").told == {}


def test_the_ops_channel_hears_once_of_a_session_that_cannot_be_read(watch: Watch) -> None:
    """Its owner's way is not known then. It comes back by itself, and lost again that is told again."""
    watch.gone.mkdir()
    for unreadable in ({"gone"}, {"gone"}, set(), {"gone"}):
        watch.disk.documents.unreadable = unreadable
        watch.faults.check()
    first, again = watch.ops
    assert first.startswith(
        "gone: heartbeats are stopped: cannot read sessions/gone: Permission denied; fix its owner."
    )
    assert again == first
    assert watch.told == []


def test_the_owner_is_told_once_that_nothing_is_checked(watch: Watch) -> None:
    """Also where only flags or notes are left; one that is missing will be written, or was deleted, which is said."""
    watch.sessions.replace({"there": session_settings(watch.there)})
    watch.faults.check()
    assert watch.told == []
    tasks, notes = "## Quick Tasks\n- [ ] look at CI\n", "## Quick Tasks\n- [ ]\n## Notes\n- the runbook is in wiki/\n"
    for text in (tasks, "", " \r\n", "<!-- later -->\n", notes, tasks, notes):
        (watch.there / "HEARTBEAT.md").write_text(text, encoding="utf-8")
        watch.faults.check()
    said = "there: HEARTBEAT.md has no tasks, so nothing is checked. Add one: /triage tiers there add quick <task>"
    assert watch.told == [("there", said)] * 2


def test_the_owner_is_told_once_that_the_playbook_cannot_be_read(watch: Watch) -> None:
    """At the next look, not after five beats that failed."""
    watch.sessions.replace({"there": session_settings(watch.there)})
    (watch.there / "HEARTBEAT.md").symlink_to("elsewhere.md")
    watch.faults.check()
    watch.faults.check()
    [(_, said)] = watch.told
    assert said.startswith(f"there: heartbeats are stopped: {watch.there}/HEARTBEAT.md is a link; put a plain file")


def test_the_owner_is_told_once_of_tasks_that_never_run(watch: Watch) -> None:
    """A heading such as "Weekly" names no tier; lists without boxes under one are notes, and not lost."""
    watch.sessions.replace({"there": session_settings(watch.there)})
    playbook = watch.there / "HEARTBEAT.md"
    quick, weekly = "## Quick Tasks\n- [ ] look at CI\n", "## Weekly\n- [ ] rotate the keys\n- [x] prune\n"
    for text in (f"{quick}## Links\n- the runbook\n", quick + weekly, weekly + quick, quick, weekly, quick + weekly):
        playbook.write_text(text, encoding="utf-8")
        watch.faults.check()
    (_, first), (_, again) = watch.told
    assert first.startswith("there: tasks in HEARTBEAT.md never run, for no heading above them says Quick")
    assert first.endswith("2 in all, first “rotate the keys” in line 4.")
    assert again == first


def test_a_check_without_a_box_under_another_heading_is_told_of_too(watch: Watch) -> None:
    """Its command is allowed, so it is meant to run; a command of the runbook is not."""
    watch.sessions.replace({"there": session_settings(watch.there, commands=["./check {word}"])})
    quick = "## Quick\n- CI: `./check ci`\n## Runbook\nTry `./check all` first.\n- Restart: `make restart`\n"
    for text in (quick, f"{quick}## Critical\n- Orders: `./check orders`\n"):
        (watch.there / "HEARTBEAT.md").write_text(text, encoding="utf-8")
        watch.faults.check()
    [(_, said)] = watch.told
    assert said.startswith("there: tasks in HEARTBEAT.md never run")
    assert said.endswith("1 in all, first “Orders: `./check orders`” in line 7.")


def test_the_owner_is_told_once_of_commands_that_never_run(watch: Watch) -> None:
    """With the line that allows each; told again only after all were allowed or gone."""
    watch.sessions.replace({"there": session_settings(watch.there)})
    fine = "## Quick\n- `git status --porcelain`\n"
    refused = f"{fine}- Disk: `df -h`\n- `make x | cat`\n"
    for text in (fine, refused, refused, fine, refused):
        (watch.there / "HEARTBEAT.md").write_text(text, encoding="utf-8")
        watch.faults.check()
    (_, first), (_, again) = watch.told
    assert first.startswith("there: commands in HEARTBEAT.md never run, for `commands` does not hold them: ")
    assert '`- "df -h"`' in first
    assert "`make x | cat`; it cannot be allowed: only a shell joins programs" in first
    assert again == first


def test_what_was_told_before_the_update_is_not_told_again(watch: Watch) -> None:
    """Earlier versions kept a field for each kind of fault."""
    documents = watch.disk.documents
    at = f"{watch.clock.now():%Y-%m-%dT%H:%M:%SZ}"
    documents.put(SESSIONS.name, "gone", {"folder_missing_told_at": at, "budget_told_at": None}, version=0)
    watch.faults.check()
    assert watch.told == []
    watch.gone.mkdir()
    watch.faults.check()
    watch.gone.rmdir()
    watch.faults.check()
    assert len(watch.told) == 1

"""A tracked HEARTBEAT.md is named in the log of each start, and its owner is told once."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.heartbeat.schedule.session_faults import SessionFaults
from bot.heartbeat.sessions.session_registry import SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from tests.fakes import FakeClock, MemoryStore, in_memory
from tests.gitrepo import git, make_repo
from tests.heartbeat.builders import alert_router
from tests.heartbeat.clockwork import session_settings
from tests.heartbeat.surface import FakeSurface


class Watch:
    """Four sessions with tracked playbooks, one of them allowed and one switched off, and one that is not tracked."""

    def __init__(self, folder: Path) -> None:
        names = ("shop", "docs", "allowed", "off")
        self.folders = {name: make_repo(folder / name, {"HEARTBEAT.md": "## Quick\n- look\n"}) for name in names}
        self.folders["own"] = make_repo(folder / "own", {"a": "b"})
        (self.folders["own"] / "HEARTBEAT.md").write_text("## Quick\n- look\n")
        more = {"allowed": {"allow_tracked_playbook": True}, "off": {"enabled": False}}
        named = {name: session_settings(cwd, **more.get(name, {})) for name, cwd in self.folders.items()}
        self.sessions, self.store = SessionRegistry(named, in_memory(OVERRIDES)), SessionMemory(MemoryStore())
        self.slack = FakeSurface()

    def started(self) -> SessionFaults:
        """Return what a new process makes."""
        clock = FakeClock()
        alerts = alert_router({"slack": self.slack}, self.store, clock)
        return SessionFaults(self.sessions, self.store, clock, alerts, surfaces=("slack",), has_model=True)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(alert.session_id, alert.text) for _, alert in self.slack.sent]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_each_start_names_them(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    """One that is allowed too, one that is off not; with what to do."""
    caplog.set_level(logging.WARNING)
    watch.started().log_tracked_playbooks()
    named = {record.session: record.getMessage() for record in caplog.records}  # type: ignore[attr-defined]
    assert sorted(named) == ["allowed", "docs", "shop"]
    assert named["shop"].startswith("shop: git tracks HEARTBEAT.md")
    assert "git rm --cached HEARTBEAT.md" in named["shop"]


def test_the_owner_is_told_once_also_across_restarts(watch: Watch) -> None:
    """Not of one that is allowed, switched off or not tracked."""
    for _ in range(2):
        tracked = watch.started()
        tracked.check_playbooks()
        tracked.check_playbooks()
    assert [name for name, _ in watch.told] == ["shop", "docs"]
    assert watch.told[0][1].startswith("Heartbeats of shop are stopped: git tracks HEARTBEAT.md")
    assert "git rm --cached HEARTBEAT.md" in watch.told[0][1]


def test_who_cannot_be_told_now_is_told_later(watch: Watch) -> None:
    """Others are told all the same."""
    watch.slack.refuses_once = Unavailable("Slack is down")
    watch.started().check_playbooks()
    assert [name for name, _ in watch.told] == ["docs"]
    watch.started().check_playbooks()
    assert [name for name, _ in watch.told] == ["docs", "shop"]


def test_one_that_is_tracked_again_is_told_again(watch: Watch) -> None:
    """Untracked in between, it was mended."""
    tracked, shop = watch.started(), watch.folders["shop"]
    tracked.check_playbooks()
    git(shop, "rm", "-q", "--cached", "HEARTBEAT.md")
    tracked.check_playbooks()
    git(shop, "add", "-f", "HEARTBEAT.md")
    tracked.check_playbooks()
    assert [name for name, _ in watch.told] == ["shop", "docs", "shop"]

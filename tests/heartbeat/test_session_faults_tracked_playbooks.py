"""A tracked HEARTBEAT.md stops its session, and its owner is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.heartbeat.scheduler import Admission
from bot.heartbeat.session_controls import SessionFaults
from bot.heartbeat.session_registry import Owners, SessionMemory, SessionRegistry
from bot.ports.collections import OVERRIDES
from tests.fakes import FakeClock, FakeWorkspace, MemoryStore, in_memory
from tests.gitrepo import git, make_repo
from tests.heartbeat.builders import alert_router
from tests.heartbeat.clockwork import DM, session_settings
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
        admission = Admission(Owners(FakeWorkspace(), clock, local="UTC"), route=lambda *_: DM)
        return SessionFaults(self.sessions, self.store, clock, alerts, admission)

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(alert.session_id, alert.text) for _, alert in self.slack.sent]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def test_the_owner_is_told_once_also_across_restarts(watch: Watch) -> None:
    """Not of one that is allowed, switched off or not tracked."""
    for _ in range(2):
        tracked = watch.started()
        tracked.check()
        tracked.check()
    assert [name for name, _ in watch.told] == ["shop", "docs"]
    assert watch.told[0][1].startswith("shop: heartbeats are stopped: tracked playbook: git tracks HEARTBEAT.md")
    assert "git rm --cached HEARTBEAT.md" in watch.told[0][1]


def test_who_cannot_be_told_now_is_told_later(watch: Watch) -> None:
    """Others are told all the same."""
    watch.slack.refuses_once = Unavailable("Slack is down")
    watch.started().check()
    assert [name for name, _ in watch.told] == ["docs"]
    watch.started().check()
    assert [name for name, _ in watch.told] == ["docs", "shop"]


def test_one_that_is_tracked_again_is_told_again(watch: Watch) -> None:
    """Untracked in between, it was mended."""
    tracked, shop = watch.started(), watch.folders["shop"]
    tracked.check()
    git(shop, "rm", "-q", "--cached", "HEARTBEAT.md")
    tracked.check()
    git(shop, "add", "-f", "HEARTBEAT.md")
    tracked.check()
    assert [name for name, _ in watch.told] == ["shop", "docs", "shop"]

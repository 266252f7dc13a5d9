"""The demo's data directory: what its sessions have to offer one another."""

from __future__ import annotations

from pathlib import Path

from bot.config.settings import load_settings
from bot.heartbeat.sessions.session_registry import SessionMemory, SessionRegistry
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import OVERRIDES, SUGGESTIONS
from demo.home import MASTER, WORKER, furnish
from tests.fakes import FakeClock, MemoryDecisionLog, MemoryStore, in_memory


def test_a_suggestion_for_the_worker_can_be_accepted(tmp_path: Path) -> None:
    """As the demo says when it starts: the master offers one check, and the watched repository gets none."""
    settings = load_settings(furnish(tmp_path / "home", Path(__file__).parent))
    sessions, store = SessionRegistry(settings.sessions, in_memory(OVERRIDES)), SessionMemory(MemoryStore({}, {}))
    decisions = SuggestionDecisions(sessions, store, in_memory(SUGGESTIONS), MemoryDecisionLog(), FakeClock())
    found = Pollination(decisions).run()
    assert [one.from_ for one in found if one.to == WORKER and not one.quarantine] == [MASTER]

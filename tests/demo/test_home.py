"""The demo's data directory: what its sessions have to offer one another."""

from __future__ import annotations

from pathlib import Path

from bot.config.settings import load_settings
from bot.heartbeat.session_registry import SessionMemory, SessionRegistry
from bot.heartbeat.suggestion_desk import SuggestionDesk
from bot.ports.collections import OVERRIDES
from bot.ports.feature_collections import SUGGESTIONS
from demo.home import furnish
from demo.watched import SESSION, WORKER
from tests.fakes import FakeClock, MemoryDecisionLog, MemoryStore, in_memory


def test_a_suggestion_for_the_worker_can_be_accepted(tmp_path: Path) -> None:
    """The master offers one check of the watched repository, and nothing else to anybody."""
    settings = load_settings(furnish(tmp_path / "home", Path(__file__).parent))
    sessions, store = SessionRegistry(settings.sessions, in_memory(OVERRIDES)), SessionMemory(MemoryStore({}, {}))
    found = SuggestionDesk(sessions, store, in_memory(SUGGESTIONS), MemoryDecisionLog(), FakeClock()).run()
    assert [(one.from_, one.to, one.quarantine) for one in found] == [(SESSION, WORKER, None)]

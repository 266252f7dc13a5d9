"""The sessions of a team and what is stored of them: all that the commands about them need, without the bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.config.heartbeat_settings import SessionSettings
from bot.domain.answers import Answer
from bot.domain.command_specs import CommandLine
from bot.domain.heartbeats.beats import Wake
from bot.heartbeat.playbook_file import Removals
from bot.heartbeat.session_controls import SessionControls
from bot.heartbeat.session_registry import Asker, BeatLog, Owners, SessionMemory, SessionRegistry, WakeBox
from bot.heartbeat.suggestion_desk import SuggestionDesk
from bot.heartbeat.task_commands import TaskCommands
from bot.ports import Clock, Store, collections
from bot.ports.collections import OnDamage, SingleDocument
from bot.ports.feature_collections import SUGGESTIONS

Answering = Callable[[CommandLine, Asker], Answer]
"""Answers every verb of one command; raises InputError where it cannot be done or they may not, StoreError."""


class Sessions:
    """The sessions, what is remembered of them, whose they are, the log of their beats, and what they suggest."""

    def __init__(
        self,
        storage: Store,
        sessions: Mapping[str, SessionSettings],
        owners: Owners,
        clock: Clock,
        *,
        on_damage: OnDamage,
        known_secrets: frozenset[str],
    ) -> None:
        documents = storage.documents
        self.owners, self._clock, self._secrets = owners, clock, known_secrets
        self.overrides = collections.Collection(documents, collections.OVERRIDES, on_damage=on_damage)
        self.registry = SessionRegistry(sessions, self.overrides)
        self.store = SessionMemory(storage, on_damage=on_damage)
        self.log = BeatLog(storage.journal(collections.HEARTBEATS))
        self.wakes = WakeBox(documents)
        self.removals = Removals(SingleDocument(documents, collections.REMOVED_CHECKS, on_damage=on_damage))
        self._task_lists = SingleDocument(documents, collections.TASK_LISTS, on_damage=on_damage)
        self.suggestions = SuggestionDesk(
            sessions=self.registry,
            states=self.store,
            suggestions=collections.Collection(documents, SUGGESTIONS, on_damage=on_damage),
            decisions=storage.decisions,
            clock=clock,
            known_secrets=known_secrets,
        )

    def answering(self, wake: Callable[[str, Wake], str], cancel: Callable[[str], bool]) -> dict[str, Answering]:
        """Return what answers `heartbeat`, `tiers` and `pollinate`; `wake` and `cancel` as in SessionControls."""
        controls = SessionControls(
            sessions=self.registry,
            store=self.store,
            zones=self.owners,
            record=self.log,
            overrides=self.overrides,
            wakes=self.wakes,
            wake=wake,
            cancel=cancel,
            clock=self._clock,
            known_secrets=self._secrets,
        )
        tasks = TaskCommands(self.registry, self.store, self._clock, self._task_lists, self.removals)
        return {"heartbeat": controls.answer, "tiers": tasks.answer, "pollinate": self.suggestions.answer}

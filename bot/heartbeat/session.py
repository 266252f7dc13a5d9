"""A watched workspace folder as beats see it: its settings with what people switched by command laid over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.domain.overrides import Override
from bot.domain.rota import Rota
from bot.heartbeat_settings import BeatSettings
from bot.session_settings import RotaSettings, SessionSettings

PLAYBOOK: Final = "HEARTBEAT.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """One session, ready to use."""

    id: str
    name: str
    cwd: Path
    owner: str
    """The Slack user or user group (S…) that is told; "" for nobody, or where there is a rota."""
    channels: tuple[str, ...]
    is_master: bool
    beat: BeatSettings
    rota: Rota | None = None
    """Its owners, where they take turns."""
    override: Override | None = None
    """What people switched by command; `beat` has it in already."""

    @property
    def playbook_path(self) -> Path:
        """Where its HEARTBEAT.md stands."""
        return self.cwd / PLAYBOOK


def resolved(session_id: str, settings: SessionSettings, override: Override | None = None) -> Session:
    """Return a session with its overrides applied."""
    changes: dict[str, object] = {}
    if override and override.enabled:
        changes["enabled"] = override.enabled.value
    if override and override.every:
        changes["every"] = override.every.value
    return Session(
        id=session_id,
        name=settings.name or session_id,
        cwd=settings.cwd,
        owner=settings.owner if isinstance(settings.owner, str) else "",
        rota=settings.owner.as_rota() if isinstance(settings.owner, RotaSettings) else None,
        channels=settings.channels,
        is_master=settings.master,
        beat=settings.heartbeat.model_copy(update=changes),
        override=override,
    )


def resolve(sessions: Mapping[str, SessionSettings], overrides: Mapping[str, Override]) -> dict[str, Session]:
    """Return every configured session by its id; an override of a session that is gone changes nothing."""
    return {name: resolved(name, one, overrides.get(name)) for name, one in sessions.items()}

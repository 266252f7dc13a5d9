"""The sessions there are: triage.yml's, with what people switched by command laid over them, looked up by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from bot.domain.overrides import Override
from bot.errors import InputError
from bot.heartbeat.session import Session, resolve
from bot.ports import OverrideStore
from bot.session_settings import SessionSettings


class Sessions:
    """All sessions, resolved anew only after something changed."""

    def __init__(self, settings: Mapping[str, SessionSettings], overrides: OverrideStore) -> None:
        self._settings, self._overrides = settings, overrides
        self._seen: tuple[Mapping[str, SessionSettings], Mapping[str, Override]] | None = None
        self._resolved: dict[str, Session] = {}

    def all(self) -> tuple[Session, ...]:
        """Return every session, in the order of triage.yml."""
        return tuple(self._current().values())

    def get(self, session_id: str) -> Session:
        """Return one session.

        Raises:
            InputError: there is none of this id; the message names the near ones.
        """
        known = self._current()
        if session_id in known:
            return known[session_id]
        raise InputError(_unknown(session_id, known))

    def configured(self, session_id: str) -> SessionSettings:
        """Return what triage.yml alone says of a session that exists."""
        return self._settings[session_id]

    def replace(self, settings: Mapping[str, SessionSettings]) -> None:
        """Take over what a new triage.yml says."""
        self._settings = settings

    def _current(self) -> dict[str, Session]:
        settings, overrides = self._settings, self._overrides.overrides()
        if self._seen is None or self._seen[0] is not settings or self._seen[1] != overrides:
            self._resolved = resolve(settings, overrides)
            self._seen = (settings, overrides)
        return self._resolved


def _unknown(session_id: str, known: Mapping[str, Session]) -> str:
    if not known:
        return "no sessions are configured; add one under sessions: in triage.yml"
    names = {session.name.lower(): session.id for session in known.values()} | {name: name for name in known}
    near = difflib.get_close_matches(session_id.lower(), names, n=3, cutoff=0.5)
    ids = list(dict.fromkeys(names[name] for name in near))
    hint = f"did you mean {' or '.join(ids)}?" if ids else f"there are {', '.join(list(known)[:10])}"
    return f"there is no session {session_id[:40]!r}; {hint}" if session_id else f"name a session; {hint}"

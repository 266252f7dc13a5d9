"""Bolt over the listeners of one team, as the composition connects them."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from slack_bolt import App

from blocks import ids
from bot.intake.normalise import Identity
from handlers.routes import bolt_app
from handlers.team_router import TeamListeners, TeamRouter
from handlers.transport.slack_clients import repeatable_client


def listening(url: str, me: Identity, executor: Executor, *, home: Any, **kinds: Any) -> App:
    """Return Bolt with one team behind it; `kinds` are its watcher, commands, shortcuts, and its tables of buttons."""
    router = TeamRouter(me)
    tables = [kinds[name] for name in ("approvals", "alerts", "suggestions", "removed", "notes", "audits")]
    router.add(
        TeamListeners(
            team="default",
            ops_channel="C0OPS",
            watcher=kinds["watcher"],
            approvers=None,  # type: ignore[arg-type]  # with one team nobody is asked who belongs to it
            commands=kinds["commands"],
            shortcuts={
                ids.TRIAGE_THIS: getattr(kinds["shortcuts"], "triage_this", lambda **_: None),
                ids.REMEMBER_THIS: getattr(kinds["notes"], "remember_this", lambda **_: None),
            },
            actions={name: listener for table in tables for name, listener in table.actions.items()},
            views={name: listener for table in tables for name, listener in table.views.items()},
            owns=lambda _: True,
            has_card=lambda _: False,
            owned=lambda _: frozenset(),
        )
    )
    return bolt_app(repeatable_client("xoxb-1", url), me, router, home, executor)

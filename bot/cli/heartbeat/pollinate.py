"""`triage pollinate …`: what `/triage pollinate` does, from the data directory; works beside a running bot.

Suggestions and decisions are files; a bot that runs shows them on their cards within seconds.
"""

from __future__ import annotations

import getpass
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from bot.cli.arguments import prints
from bot.cli.heartbeat.command import WatchedSessions, report_damage
from bot.cli.output import WIDTH, cut
from bot.cli.verb_group import VerbGroup
from bot.domain.sharing.suggestions import (
    ANYWAY,
    NO_SUGGESTIONS,
    DecidedBy,
    Suggestion,
    accepted,
    describe_outcome,
    describe_suggestion,
    order,
    ran,
    rejected,
)
from bot.domain.text.sanitize import one_line
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import SUGGESTIONS, Collection

id_argument = click.argument("suggestion_id", metavar="ID", help="the suggestion's id, or its last six characters")


class PollinateCli(WatchedSessions):
    """The suggestions between sessions."""

    def __init__(self, home: Path | None, config: Path | None) -> None:
        super().__init__(home, config)
        self.by = DecidedBy("terminal", f"{getpass.getuser()} at the terminal")
        self.suggestions = Collection(self.documents, SUGGESTIONS, on_damage=report_damage)
        self.decisions = SuggestionDecisions(self.registry, self.suggestions, self.storage.decisions, self.clock)


@click.group("pollinate", cls=VerbGroup, help="Checks suggested from one session to another.")
def command() -> None:
    """Hold the verbs."""


@command.command("run", help="find checks that other sessions could use, and suggest the best")
@prints(PollinateCli)
def run(bench: PollinateCli) -> str:
    """Suggest and return what was suggested."""
    inbox = SessionInbox(bench.registry, bench.states, lambda *_: "")
    secrets = bench.environment.secrets()
    sent = Pollination(
        bench.registry, bench.states, bench.suggestions, inbox, clock=bench.clock, known_secrets=secrets
    ).run()
    return "\n".join([*(render(one) for one in sent), *([""] if sent else []), ran(sent)])


@command.command("list", help="open suggestions and the latest decisions")
@prints(PollinateCli)
def list_suggestions(bench: PollinateCli) -> str:
    """Return what waits and what was decided."""
    return render_list(bench.suggestions.all())


@command.command("accept", help="add a suggestion to its session's HEARTBEAT.md")
@id_argument
@click.argument(
    "anyway", type=click.Choice([ANYWAY]), required=False, help="add it although it is quarantined; read it first"
)
@prints(PollinateCli)
def accept(bench: PollinateCli, suggestion_id: str, anyway: str | None) -> str:
    """Accept; a quarantined suggestion is shown first."""
    found = bench.decisions.find(suggestion_id)
    if found.is_unread and anyway is None:
        return "\n".join([render(found), f"To add it anyway: triage pollinate accept {found.id} {ANYWAY}"])
    return accepted(bench.decisions.accept(found.id, bench.by, has_read=bool(found.quarantine)))


@command.command("reject", help="reject it; it is not offered again")
@id_argument
@click.argument("why", nargs=-1)
@prints(PollinateCli)
def reject(bench: PollinateCli, suggestion_id: str, why: tuple[str, ...]) -> str:
    """Reject, with a reason if there is one."""
    return rejected(bench.decisions.reject(bench.decisions.find(suggestion_id).id, bench.by, " ".join(why) or None))


def render_list(suggestions: Sequence[Suggestion]) -> str:
    """Return what waits and what was decided last, at most 80 columns wide."""
    waiting, decided = order(suggestions)
    if not waiting and not decided:
        return f"{NO_SUGGESTIONS} Next: triage pollinate run"
    past = ["", "decided last:", *(cut(f"{one.id}  {describe_outcome(one)}") for one in decided)] if decided else []
    following = f"accept {waiting[0].id}" if waiting else "run"
    return "\n".join([*map(render, waiting), *past, "", f"Next: triage pollinate {following}"])


def render(suggestion: Suggestion) -> str:
    """Return one suggestion: what for whom, from whom, why; a quarantined line is quoted as it stands."""
    head = cut(f"{suggestion.id}  {describe_suggestion(suggestion)}, from {one_line(suggestion.from_)}")
    why = f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else one_line(suggestion.reason)
    return "\n".join([head, *_filled(one_line(suggestion.task), "  | "), *_filled(why, "    ")])


def _filled(text: str, margin: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin)

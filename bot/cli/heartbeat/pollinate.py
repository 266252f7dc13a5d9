"""`triage pollinate …`: what `/triage pollinate` does, from the data directory; works beside a running bot.

Suggestions and decisions are files; a bot that runs shows them on their cards within seconds.
"""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Any, Final

import click

from bot.cli.arguments import prints
from bot.cli.heartbeat.command import WatchedSessions, report_damage
from bot.cli.verb_group import VerbGroup
from bot.domain.answers import Answer
from bot.domain.commands.command_specs import subcommands
from bot.domain.sharing.suggestions import DecidedBy
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_answers import decide_suggestion, list_suggestions, send_suggestions
from bot.heartbeat.sharing.suggestion_decisions import SharingStores, SuggestionDecisions
from bot.ports.collections import SUGGESTIONS, Collection

NAME: Final = "pollinate"


class PollinateCli(WatchedSessions):
    """The suggestions between sessions."""

    def __init__(self, home: Path | None, config: Path | None) -> None:
        super().__init__(home, config)
        self.by = DecidedBy("terminal", f"{getpass.getuser()} at the terminal")
        self.suggestions = Collection(self.documents, SUGGESTIONS, on_damage=report_damage)
        decisions = self.storage.decisions
        self.decisions = SuggestionDecisions(
            SharingStores(self.registry, self.states, self.suggestions, decisions, self.clock)
        )


@click.group(NAME, cls=VerbGroup, help="Checks suggested from one session to another.")
def command() -> None:
    """Hold the verbs."""


def _answer(bench: PollinateCli, verb: str, name: str = "", words: tuple[str, ...] = ()) -> Answer:
    if verb == "run":
        return send_suggestions(Pollination(bench.decisions, known_secrets=bench.environment.secrets()))
    if verb == "list":
        return list_suggestions(bench.suggestions.all())
    return decide_suggestion(bench.decisions, verb, bench.decisions.find(name), " ".join(words), bench.by)


def _add_verb(verb: str, does: str, form: str) -> None:
    """Add a verb, with the suggestion's id and further words where its form has them."""

    def answer(bench: PollinateCli, **given: Any) -> Answer:
        return _answer(bench, verb, **given)

    answer.__name__ = f"{verb}_suggestions"
    added = command.command(verb, help=does)(prints(PollinateCli)(answer))
    if "<id>" in form:
        rest = form.partition("<id>")[2].strip(" []").upper()
        added.params += [click.Argument(["name"], metavar="ID"), click.Argument(["words"], nargs=-1, metavar=rest)]


for _entry in subcommands(NAME):
    _add_verb(_entry.path.removeprefix(f"{NAME} "), _entry.does, _entry.form)

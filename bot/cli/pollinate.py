"""`triage pollinate …`: what `/triage pollinate` does, from the data directory; works beside a running bot.

Suggestions and decisions are files; a bot that runs shows them on their cards within seconds.
"""

from __future__ import annotations

import argparse
import getpass
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bot.adapters.process.system_clock import SystemClock
from bot.adapters.storage.files.decision_log import DecisionLogFile
from bot.adapters.storage.files.file_documents import FileDocuments
from bot.adapters.storage.files.session_files import SessionFiles
from bot.cli.output import CommandParser
from bot.config.environment import Environment, read_environment
from bot.config.settings import find_config, load_settings
from bot.domain.sharing.suggestion_wording import (
    accepted,
    describe_outcome,
    describe_suggestion,
    order,
    ran,
    rejected,
    suggestion_line,
)
from bot.domain.sharing.suggestions import DecidedBy, Suggestion
from bot.heartbeat.sessions.session_inbox import SessionInbox
from bot.heartbeat.sessions.session_registry import SessionRegistry
from bot.heartbeat.sharing.pollination import Pollination
from bot.heartbeat.sharing.suggestion_decisions import SuggestionDecisions
from bot.ports.collections import OVERRIDES, SUGGESTIONS, Collection

WIDTH: Final = 80
ANYWAY: Final = "anyway"
_HELP: Final = {
    "run": "look for checks that sessions could take over, and suggest the best",
    "list": "what waits, and what was decided last",
    "accept": "add a suggestion to its session's HEARTBEAT.md",
    "reject": "not this one, and not again",
}


class PollinateCli:
    """The suggestions of one data directory, without the bot."""

    def __init__(self, environment: Environment, config: Path | None) -> None:
        home, clock = environment.home, SystemClock()
        settings = load_settings(find_config(config, home))
        documents = FileDocuments(home)
        sessions = SessionRegistry(settings.sessions, Collection(documents, OVERRIDES, on_damage=_report))
        states = SessionFiles(home, on_damage=_report)
        self.suggestions = Collection(documents, SUGGESTIONS, on_damage=_report)
        mail = SessionInbox(sessions, states, lambda *_: "")
        secrets = environment.secrets()
        self.pollination = Pollination(sessions, states, self.suggestions, mail, clock=clock, known_secrets=secrets)
        self.desk = SuggestionDecisions(sessions, self.suggestions, DecisionLogFile(home), clock)


def main(argv: list[str]) -> int:
    """Carry out one verb and print what came of it; exit code 0.

    Raises:
        ConfigError: triage.yml or the environment cannot be used.
        InputError: there is no such suggestion, it is decided, or the playbook does not take it.
        StoreError: the data directory or a playbook cannot be read or written.
    """
    args = parser().parse_args(argv)
    environment = read_environment(dotenv=Path(".env"))
    if args.home:
        environment = environment.model_copy(update={"home": args.home})
    print(_answer(PollinateCli(environment, args.config), args).replace("/triage", "triage"))
    return 0


def _answer(bench: PollinateCli, args: argparse.Namespace) -> str:
    if args.verb == "run":
        sent = bench.pollination.run()
        return "\n".join([*(render(one) for one in sent), *([""] if sent else []), ran(sent)])
    if args.verb == "list":
        return render_list(bench.suggestions.all())
    by, found = DecidedBy("terminal", f"{getpass.getuser()} at the terminal"), bench.desk.find(args.id)
    if args.verb == "reject":
        return rejected(bench.desk.reject(found.id, by, " ".join(args.why) or None))
    if found.quarantine and found.is_waiting and args.anyway != ANYWAY:
        return "\n".join([render(found), f"To add it anyway: triage pollinate accept {found.id} {ANYWAY}"])
    return accepted(bench.desk.accept(found.id, by, has_read=bool(found.quarantine)))


def render_list(suggestions: Sequence[Suggestion]) -> str:
    """Return what waits and what was decided last, at most 80 columns wide."""
    waiting, decided = order(suggestions)
    if not waiting and not decided:
        return "No suggestions yet. Next: triage pollinate run"
    past = ["", "decided last:", *(_cut(f"{one.id}  {describe_outcome(one)}") for one in decided)] if decided else []
    following = f"accept {waiting[0].id}" if waiting else "run"
    return "\n".join([*map(render, waiting), *past, "", f"Next: triage pollinate {following}"])


def render(suggestion: Suggestion) -> str:
    """Return one suggestion: what for whom, from whom, why; a quarantined line is quoted as it stands."""
    head = _cut(f"{suggestion.id}  {describe_suggestion(suggestion)}, from {suggestion_line(suggestion.from_)}")
    why = f"quarantined: {suggestion.quarantine}" if suggestion.quarantine else suggestion_line(suggestion.reason)
    return "\n".join([head, *_filled(suggestion_line(suggestion.task), "  | "), *_filled(why, "    ")])


def _filled(text: str, margin: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin)


def parser() -> argparse.ArgumentParser:
    """Return what reads the arguments."""
    shared = CommandParser(add_help=False)
    shared.add_argument("--home", type=Path, help="data directory (default: TRIAGE_HOME, then ~/.triage)")
    shared.add_argument("--config", type=Path, help="default: ./triage.yml, then triage.yml in the data directory")
    found = CommandParser(prog="triage pollinate", description="Checks that travel between sessions.")
    verbs = found.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, does in _HELP.items():
        verb = verbs.add_parser(name, help=does, description=does, parents=[shared])
        if name in ("accept", "reject"):
            verb.add_argument("id", help="the suggestion's id, or its last six characters")
        if name == "accept":
            verb.add_argument("anyway", nargs="?", choices=[ANYWAY], help="add a quarantined line that you have read")
        if name == "reject":
            verb.add_argument("why", nargs="*")
    return found


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def _report(where: str) -> None:
    path = Path(where)
    print(f"triage: {path.parent} held a file that could not be read; it was set aside as {path.name}", file=sys.stderr)

"""`triage demo`: a throw-away Slack, the ordinary bot, a real codebase, one click.

Starts nothing of its own but the server and the people in it; the bot is the one `triage run` starts, connected by
Socket Mode. Everything ends with the process, also when it is killed.
"""

from __future__ import annotations

import json
import os
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from slack_sdk import WebClient

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.adapters.terminals import choose_terminal
from bot.agent.git.git_repo import GitRepo
from bot.app import App
from bot.cli.options import FILE
from bot.cli.run import log_to_stderr
from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.domain.text.humanize import counted
from demo import example
from demo.alert import ALERT_LIMIT_S, MODEL_ALERT_LIMIT_S, AlertJourney
from demo.binary import cache_folder, ensure_binary
from demo.control import Control
from demo.guide import Guide
from demo.home import environment_of, furnish, home_of, status_command
from demo.journey import CARD_LIMIT_S, MODEL_CARD_LIMIT_S, Journey
from demo.page_server import PageServer
from demo.questions import question_for
from demo.signals import kept_signals, leave, on_end, wait_for_end
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, OPS

NOTHING_TO_ASK = (
    "this codebase defines nothing that a question of the demo's own could be about; "
    "name one with --question, such as: where is `name` defined?"
)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoOptions:
    """What was asked for on the command line."""

    codebase: Path
    example: bool
    question: str | None
    headless: bool
    json: bool
    no_browser: bool
    port: int
    home: Path | None
    verbose: bool

    def check(self) -> None:
        """Raise UsageError where an option cannot be used."""
        context = click.get_current_context()
        if self.json and not self.headless:
            context.fail("--json needs --headless")
        if self.question is not None and not self.question.strip():
            context.fail("--question is empty; give a question, or leave it out to get one that fits the codebase")


@click.command("demo", help="Try triage in a throw-away Slack.")
@click.option("--codebase", type=FILE, metavar="DIR", default=Path(), help="a git checkout (default: this one)")
@click.option("--example", is_flag=True, help="a small shop, with a script in place of models")
@click.option("--question", metavar="TEXT", help="what to ask (default: one that fits the codebase)")
@click.option("--headless", is_flag=True, help="ask, approve and check without a browser")
@click.option("--json", is_flag=True, help="with --headless: one JSON object on stdout")
@click.option("--no-browser", is_flag=True, help="print the address, open nothing")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, metavar="PORT", help="port of the page (default: a free one)"
)
@click.option("--home", type=FILE, metavar="DIR", help="keep the data directory here (default: thrown away)")
@click.option("--verbose", is_flag=True, help="log every step")
def command(**options: Any) -> int:
    """Run the demo; exit code 0 when it ended as it should (headless: the approved reply stands).

    A signal that comes before the people may click, or in a headless run, ends it with 128 plus the signal's number.

    Raises:
        ConfigError: codebase, home, port or binary cannot be used.
        ProviderError: the server did not start, or the bot did not connect.
    """
    args = DemoOptions(**options)
    args.check()
    on_end(leave)
    log_to_stderr(verbose=args.verbose, secrets=read_environment().secrets(), steps=False)
    for name in _PROXIES:  # the demo talks to this machine only, and Slack's SDK ignores NO_PROXY
        os.environ.pop(name, None)
    with ExitStack() as stack:
        home = stack.enter_context(home_of(args.home))
        repo = _open(args, home)
        slack = stack.enter_context(LocalSlack(_binary(args), DEMO, env=os.environ))
        page = stack.enter_context(PageServer(slack.url, actor=ANA.user_id, channel=OPS.channel_id, port=args.port))
        control = stack.enter_context(Control(slack.url))
        model = stack.enter_context(example.ScriptedModel(0 if args.headless else example.PAUSE_S))
        bot = stack.enter_context(_bot(args, slack, home, repo, model.url if args.example else None))
        control.wait_for(control.is_connected, "the bot to connect")
        questions = _questions(args, bot, repo)
        if args.headless:
            return _headless(args, control, home, questions)
        return _interactive(args, control, page.url, home, questions)


def _binary(args: DemoOptions) -> Path:
    override = os.environ.get("TRIAGE_LOCAL_SLACK")
    return ensure_binary(
        cache_folder(os.environ),
        override=Path(override) if override else None,
        on_fetch=lambda package: _say(args, f"fetching  {package} from npm, once: the demo's Slack"),
    )


def _open(args: DemoOptions, home: Path) -> GitRepo:
    repo = GitRepo(example.make_shop(home / "example") if args.example else args.codebase)
    repo.head()
    _say(args, f"codebase  {repo.root}")
    return repo


def _questions(args: DemoOptions, bot: App, repo: GitRepo) -> Sequence[str]:
    if args.question or args.example:
        return [args.question] if args.question else example.QUESTIONS
    found = question_for(repo, bot.team.core.code.codebases.first.index)
    return [found] if found else []


@contextmanager
def _bot(args: DemoOptions, slack: LocalSlack, home: Path, codebase: GitRepo, script: str | None) -> Iterator[App]:
    """Start the ordinary bot with an ordinary config; stop it whatever happens. `script` is the address of one."""
    config = furnish(home, codebase.root, example.SETTINGS if script else None)
    environment = environment_of(slack, home, script)
    bot = App(load_settings(config), environment)
    try:
        repo = bot.team.core.code.codebases.first.repo
        index = SqlitePassageIndex(repo, home / "index" / "passages.sqlite", environment.secrets())
        indexed = index.refresh()  # the bot would do it beside; the demo's question is made from it
        _say(args, f"index     {counted(indexed.files, 'file')} at {indexed.commit[:12]}, {indexed.seconds:.1f} s")
        _say(args, f"drafts by {bot.team.questions.models.described}")
        bot.start()
        client = WebClient(DEMO.bot_token, base_url=slack.api_url)
        for person in DEMO.users:  # so that the page has a place to write to the bot alone
            client.conversations_open(users=person.user_id)
        yield bot
    finally:
        bot.stop()
        if args.home is None:
            for session in (terminal := choose_terminal(home)).sessions():
                terminal.end(session)  # what would work on in a data directory that is thrown away


def _headless(args: DemoOptions, control: Control, home: Path, questions: Sequence[str]) -> int:
    if not questions:
        failed = {"ok": False, "question": None, "error": NOTHING_TO_ASK}
        print(json.dumps(failed) if args.json else f"stopped   {NOTHING_TO_ASK}")
        return 1
    with_models = args.example or bool(os.environ.get("ANTHROPIC_API_KEY"))
    journey = Journey(control, home, quiet=args.json, card_limit_s=MODEL_CARD_LIMIT_S if with_models else CARD_LIMIT_S)
    result = journey.approve(_addressed(questions[0]))
    if result["ok"] and not args.example:
        Guide(control, home).alert()
        limit_s = MODEL_ALERT_LIMIT_S if with_models else ALERT_LIMIT_S
        result["heartbeat"] = AlertJourney(control, journey.transcript, limit_s=limit_s).acknowledge()
        result["ok"] = with_models or bool(result["heartbeat"] and result["heartbeat"]["acknowledged"])
    if args.json:
        print(json.dumps({**result, "question": questions[0]}, ensure_ascii=False))
    return 0 if result["ok"] else 1


def _addressed(question: str) -> str:
    """Return the question, put to the bot by name where it is a statement."""
    return question if question.rstrip().endswith("?") else f"<@{DEMO.bot_id}> {question}"


def _interactive(args: DemoOptions, control: Control, url: str, home: Path, questions: Sequence[str]) -> int:
    """Fill the channels a little, say where to click, lead on after the first click, and wait for Ctrl-C."""
    control.say(HELP.channel_id, ANA.user_id, "thanks, that worked!")
    control.say(ENG.channel_id, BEN.user_id, "deploying the new build to staging now")
    for question in questions:
        control.say(HELP.channel_id, CHLOE.user_id, _addressed(question))
    signals = kept_signals()
    print(
        f"\n  open      {url}\n"
        f"  click     {_first_click(args, questions)}\n"
        f"  read      the reply in #{HELP.name}, in the thread of the question; what is next stands in #{OPS.name}\n"
        f"  data      {home}\n"
        f"            {status_command(home)}\n"
        "\n  Ctrl-C ends it; without --home nothing stays on disk.",
        flush=True,
    )
    if not args.no_browser:
        webbrowser.open(url)
    guide = Guide(control, home)
    wait_for_end(signals, (lambda: None) if args.example else guide.tick)
    return 0


def _first_click(args: DemoOptions, questions: Sequence[str]) -> str:
    who = f"in #{OPS.name}: you act as {ANA.real_name}, who may approve"
    if args.example:
        return f"any button of the cards {who}; a script plays the models"
    return f"Approve on the card {who}" if questions else f"#{HELP.name}, and ask something: {NOTHING_TO_ASK}"


def _say(args: DemoOptions, line: str) -> None:
    if not args.json:
        print(line, flush=True)

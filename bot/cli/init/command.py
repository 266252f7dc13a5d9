"""`triage init`: a few questions, each answer checked as it is typed, then triage.yml and .env.

What is given as an option is not asked for; tokens come from the environment or are typed unseen, never
from an option, which `ps` would show. Until the last answer nothing is written, and nothing is ever overwritten: where
there is a triage.yml, what it says is proposed, and what comes of the answers is written beside it.
"""

from __future__ import annotations

import getpass
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from bot.cli.init.config_text import Proposals, config_of, patched, read_proposals, rendered, with_fitting_places
from bot.cli.init.files import APPS, CONFIG, PROPOSED, SECRETS, is_there, manifest_link, read_manifest, write_files
from bot.cli.init.interview import NONE, Interview, Texts, read_team_options
from bot.cli.init.questions import SECRETS as SECRET_QUESTIONS
from bot.cli.init.questions import Answers
from bot.cli.options import FILE
from bot.config.environment import read_environment, require_signing_secret, require_tokens
from bot.errors import ConfigError, InputError

_WELCOME: Final = """A few questions. Enter takes the value in [brackets]; Ctrl-C writes nothing.
"""
_NO_APP: Final = "No Slack app yet? Leave its tokens empty; a link to create it comes at the end.\n"
_SECOND: Final = f"""There is a {CONFIG}: what it says is in [brackets], and {NONE} stands for none. It stays as it is;
what comes of your answers goes into {PROPOSED}.
"""

_UNTIL_IT_RUNS: Final = "Until the bot runs, only `bot` and `connection` may fail."


@click.command(
    "init",
    help="A few questions, then triage.yml and .env; nothing is overwritten. Tokens: SLACK_BOT_TOKEN, SLACK_APP_TOKEN "
    "and ANTHROPIC_API_KEY of the environment, or typed without echo.",
)
@click.option("--folder", type=FILE, metavar="DIR", default=Path(), help="where the files go (default: here)")
@click.option("--codebase", metavar="DIR|NAME=DIR,NAME=URL", help="a git checkout, or several and addresses")
@click.option(
    "--team",
    "teams",
    metavar="'NAME ops=C… KEY=VALUE…'",
    multiple=True,
    help="one of several teams that share the bot, once for each; keys: ops, approvers, channels (C…=name,C…), "
    "codebases (NAME,NAME), language",
)
@click.option("--ops-channel", metavar="C…", help="the private channel for drafts, of one team")
@click.option("--watch", metavar="C…=name,C…", help="channels to watch, of one team")
@click.option("--approvers", metavar="U…,S…", help="who may approve, of one team")
@click.option("--language", metavar="en", help="the language of the team, or of most teams")
@click.option("--sessions", metavar="DIR,NAME=DIR", help="folders with heartbeats (a checkout each)")
@click.option("--session-teams", metavar="TEAM|NAME=TEAM", help="whose each folder is, where there are several teams")
@click.option("--owner", metavar="U…|NAME=U…,NAME=S…", help="who is told what heartbeats find")
@click.option("--offline", is_flag=True, help="do not ask whether git can read an address")
@click.option("--no-input", is_flag=True, help="ask nothing; use the default of every missing option")
def command(folder: Path, teams: tuple[str, ...], offline: bool, no_input: bool, **options: str | None) -> int:
    """Ask, write the files, and say what comes next; exit code 0.

    Raises:
        InputError: a file is in the way, an answer is missing, or the input ended.
        StoreError: the disk refuses.
    """
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; create it first, or give another --folder")
    proposals = _proposals_in(folder)
    given = _given(options, read_team_options(teams), proposals)
    has_secrets = is_there(folder / SECRETS)
    hidden = getpass.getpass if sys.stdin.isatty() else input
    try:
        if not no_input:
            print(_welcome(proposals, has_secrets=has_secrets))
        interview = Interview(given, proposals.answers, None if no_input else input, hidden, print)
        answers = interview.answers(offline=offline, secrets=not has_secrets)
    except EOFError:
        print()
        raise InputError("The input ended before the last answer; nothing was written.") from None
    except KeyboardInterrupt:
        print("\nNothing was written.")
        raise
    config = with_fitting_places(patched(proposals.config, proposals.spoken_of, config_of(answers, proposals.config)))
    texts = {} if config == proposals.config else {PROPOSED if proposals.config else CONFIG: rendered(config)}
    texts |= {} if has_secrets else {SECRETS: _env(answers)}
    if not texts:
        print(f"{CONFIG} says all that already, and {SECRETS} is there. Nothing was written.")
        return 0
    write_files(folder, texts, answers)
    print(next_steps(folder, list(texts), answers))
    return 0


def _proposals_in(folder: Path) -> Proposals:
    if not is_there(folder / CONFIG):
        return Proposals()
    if is_there(folder / PROPOSED):
        raise InputError(
            f"{folder / PROPOSED} is there from an earlier run; move it over {CONFIG} or remove it first. "
            "Nothing was written."
        )
    return read_proposals(folder / CONFIG)


def _given(options: Mapping[str, str | None], teams: Mapping[str, Mapping[str, str]], proposals: Proposals) -> Texts:
    of_all = {key: value for key, value in options.items() if value is not None}
    of_all |= {question.key: os.environ[question.key] for question in SECRET_QUESTIONS if os.environ.get(question.key)}
    if teams:
        of_all["team_names"] = ", ".join(dict.fromkeys([*proposals.answers.of_team, *teams]))
    return Texts(of_all=of_all, of_team=teams)


def _welcome(proposals: Proposals, *, has_secrets: bool) -> str:
    return _WELCOME + (_SECOND if proposals.config else "") + ("" if has_secrets else _NO_APP)


def next_steps(folder: Path, written: list[str], answers: Answers) -> str:
    """Return what is left to do; where there are no tokens yet that begins with the app and where it comes from."""
    lines = [f"Wrote {' and '.join(written)} in {folder}.", ""]
    enter = f"cd {shlex.quote(str(folder))} && " if folder != Path.cwd() else ""
    if PROPOSED in written:
        steps = [
            f"Compare; comments of your own are not in the new file:\n     {enter}diff {CONFIG} {PROPOSED}",
            f"Take it over:\n     {enter}mv {PROPOSED} {CONFIG}",
            "Invite the bot to channels that are new.",
            f"{enter}triage doctor",
            "Restart the bot. For new channels, codebases and sessions, and for more teams where there\n"
            "     are several, `kill -HUP` is enough.",
        ]
    else:
        steps = [_invitation(answers), f"{enter}triage doctor\n     {_UNTIL_IT_RUNS}", "triage run"]
    if not _has_tokens(folder):
        steps.insert(0, f"Install the app to the workspace and put its two tokens into {SECRETS}.")
        lines += [*_how_to_create_the_app(), ""]
    return "\n".join([*lines, "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, start=1))])


def _invitation(answers: Answers) -> str:
    teams = answers["teams"].values()
    private = ", ".join(dict.fromkeys(team["ops"] for team in teams)) or answers["ops_channel"]
    watched = any(team["channels"] for team in teams) if teams else bool(answers["watch"])
    chats = " and each watched channel" if watched else " first"
    return f"Invite the bot to {private}, which must be private,{chats}:\n     /invite @triage"


def _how_to_create_the_app() -> list[str]:
    manifest = read_manifest()
    lines = [f"The Slack app: {APPS} > Create New App > From a manifest, manifest.yml."]
    link = ["Or use this link, which has the manifest filled in:", "", manifest_link(manifest)] if manifest else []
    return lines + link


def _has_tokens(folder: Path) -> bool:
    environment = read_environment({}, dotenv=folder / SECRETS)
    need = require_signing_secret if environment.slack_signing_secret else require_tokens
    try:
        need(environment)
    except ConfigError:
        return False
    return True


def _env(answers: Mapping[str, Any]) -> str:
    """Return the text of .env; a token that is not there yet leaves the line where it goes."""
    values = {
        "SLACK_BOT_TOKEN": answers["SLACK_BOT_TOKEN"] or "xoxb-your-token",
        "SLACK_APP_TOKEN": answers["SLACK_APP_TOKEN"] or "xapp-your-token",
    }
    values |= {key: answers[key] for key in ("ANTHROPIC_API_KEY", "TRIAGE_HOME") if answers[key]}
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())  # Docker keeps needless quotes

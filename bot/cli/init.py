"""`triage init`: a few questions, each answer checked as it is typed, then triage.yml and .env.

What is given as an option is not asked for; tokens come from the environment or are typed unseen, never
from an option, which `ps` would show. Until the last answer nothing is written.
"""

from __future__ import annotations

import getpass
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from bot.cli.arguments import FILE
from bot.cli.init_files import APPS, CONFIG, SECRETS, manifest_link, read_manifest, refuse_existing, write_files
from bot.cli.init_questions import QUESTIONS, InitQuestion
from bot.cli.output import wrapped
from bot.errors import InputError

Read = Callable[[str], str]
_WELCOME: Final = f"""{len(QUESTIONS)} questions at most. Enter takes the value in [brackets]; Ctrl-C writes nothing.
No Slack app yet? Leave its tokens empty; a link to create it comes at the end.

"""


@click.command(
    "init",
    help="A few questions, then triage.yml and .env. Tokens: SLACK_BOT_TOKEN, SLACK_APP_TOKEN and ANTHROPIC_API_KEY of "
    "the environment, or typed without echo.",
)
@click.option("--folder", type=FILE, metavar="DIR", default=Path(), help="where the files go (default: here)")
@click.option("--codebase", metavar="DIR", help="a git checkout")
@click.option("--ops-channel", metavar="C…", help="the private channel for drafts")
@click.option("--watch", metavar="C…=name,C…", help="channels to watch")
@click.option("--approvers", metavar="U…,S…", help="who may approve")
@click.option("--language", metavar="en", help="the team's language")
@click.option("--sessions", metavar="DIR,NAME=DIR", help="folders with heartbeats (a checkout each)")
@click.option("--owner", metavar="U…|NAME=U…,NAME=S…", help="who is told what heartbeats find")
@click.option("--no-input", is_flag=True, help="ask nothing; use the default of every missing option")
def command(folder: Path, no_input: bool, **options: str | None) -> int:
    """Ask, write both files, and say what comes next; exit code 0.

    Raises:
        InputError: a file is there already, an answer is missing, or the input ended.
        StoreError: the disk refuses.
    """
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; create it first, or give another --folder")
    refuse_existing(folder)
    given = {key: value for key, value in options.items() if value is not None}
    given |= {key: os.environ[key] for key in (question.key for question in QUESTIONS) if os.environ.get(key)}
    hidden = getpass.getpass if sys.stdin.isatty() else input
    try:
        print("" if no_input else _WELCOME, end="")
        answers = ask_question(given, None if no_input else input, hidden, say=print)
    except EOFError:
        print()
        raise InputError("The input ended before the last answer; nothing was written.") from None
    except KeyboardInterrupt:
        print("\nNothing was written.")
        raise
    write_files(folder, _settings(answers), _secrets(answers))
    print(next_steps(folder, answers))
    return 0


def ask_question(
    given: Mapping[str, str], read: Read | None, hidden: Read, *, say: Callable[[str], object]
) -> dict[str, Any]:
    """Return the answers by key; what cannot be used is asked for again, unless nobody can be asked (`read` is None).

    Raises:
        InputError: an answer that was given cannot be used, or one is missing and nobody can be asked.
        EOFError: the input ended.
    """
    answers: dict[str, Any] = {}
    for question in QUESTIONS:
        if question.after and not answers[question.after] and question.key not in given:
            answers[question.key] = question.take(question.default or "")
        elif question.key in given or read is None:
            answers[question.key] = _given(question, given.get(question.key, question.default), answers)
        else:
            answers[question.key] = _asked(question, hidden if question.is_secret else read, say, answers)
    return answers


def _given(question: InitQuestion, text: str | None, answers: Mapping[str, Any]) -> Any:
    name = question.key if question.key.isupper() else f"--{question.key.replace('_', '-')}"
    if text is None:
        raise InputError(f"{name} is missing; nothing was written. `triage init --help` lists them")
    try:
        return _taken(question, text.strip(), answers)
    except ValueError as error:
        raise InputError(f"{name}: {error}; nothing was written") from error


def _taken(question: InitQuestion, text: str, answers: Mapping[str, Any]) -> Any:
    value = question.take(text)
    question.check(value, answers)
    return value


def _asked(question: InitQuestion, read: Read, say: Callable[[str], object], answers: Mapping[str, Any]) -> Any:
    default = f" [{question.default}]" if question.default else ""
    while True:
        text = read(f"{question.asks}{default}: ").strip() or (question.default or "")
        try:
            return _taken(question, text, answers)
        except ValueError as error:
            say(wrapped(str(error), lead="  "))


def next_steps(folder: Path, answers: Mapping[str, Any]) -> str:
    """Return what is left to do; where there are no tokens yet that begins with the app and where it comes from."""
    lines = [f"Wrote {CONFIG} and {SECRETS} in {folder}.", ""]
    enter = f"cd {shlex.quote(str(folder))} && " if folder != Path.cwd() else ""
    chats = " and each watched channel" if answers["watch"] else ""
    steps = [
        f"Invite the bot to {answers['ops_channel']}, which must be private,{chats or ' first'}:\n     /invite @triage",
        f"{enter}triage doctor\n     Until the bot runs, only `bot` and `connection` may fail.",
        "triage run",
    ]
    if not _has_tokens(answers):
        steps.insert(0, f"Install the app to the workspace and put its two tokens into {SECRETS}.")
        manifest = read_manifest()
        lines += [f"The Slack app: {APPS} > Create New App > From a manifest, manifest.yml."]
        lines += (
            ["Or use this link, which has the manifest filled in:", "", manifest_link(manifest)] if manifest else []
        )
        lines.append("")
    return "\n".join([*lines, "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, start=1))])


def _has_tokens(answers: Mapping[str, Any]) -> bool:
    return bool(answers["SLACK_BOT_TOKEN"] and answers["SLACK_APP_TOKEN"])


def _settings(answers: Mapping[str, Any]) -> dict[str, Any]:
    known = {"codebase": str(answers["codebase"]), "ops_channel": answers["ops_channel"]}
    optional = {"watched_chats": answers["watch"], "approvers": answers["approvers"]}
    language = {} if answers["language"] == "en" else {"team_language": answers["language"]}
    owners = answers["owner"]
    sessions = {
        name: {"cwd": str(folder), "owner": owners.get(name, owners.get(""))}
        for name, folder in answers["sessions"].items()
    }
    more = {"sessions": sessions} if sessions else {}
    return {**known, **{key: value for key, value in optional.items() if value}, **language, **more}


def _secrets(answers: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of .env; a token that is not there yet leaves the line where it goes."""
    tokens = {
        "SLACK_BOT_TOKEN": answers["SLACK_BOT_TOKEN"] or "xoxb-your-token",
        "SLACK_APP_TOKEN": answers["SLACK_APP_TOKEN"] or "xapp-your-token",
    }
    more = {key: answers[key] for key in ("ANTHROPIC_API_KEY", "TRIAGE_HOME") if answers[key]}
    return {**tokens, **more}

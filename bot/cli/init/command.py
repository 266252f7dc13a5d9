"""`triage init`: five questions, each answer checked as it is typed, then one commented triage.yml, and .env.

What is given as an option is not asked for; tokens come from the environment only, never from an option, which `ps`
would show. Until the last answer nothing is written, and nothing is ever overwritten: a triage.yml is edited.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Final

import click

from bot.cli.init.files import APPS, CONFIG, SECRETS, is_there, manifest_link, read_manifest, write_files
from bot.cli.init.questions import BACK, Answers, ask_all, config_text
from bot.cli.options import FILE
from bot.config.environment import read_environment, require_signing_secret, require_tokens, wrong_token
from bot.errors import ConfigError, InputError

_WELCOME: Final = f"Five questions. Enter takes the value in [brackets], {BACK} goes back; Ctrl-C writes nothing.\n"
_PLACEHOLDERS: Final = {"SLACK_BOT_TOKEN": "xoxb-your-token", "SLACK_APP_TOKEN": "xapp-your-token"}
_OPTIONAL: Final = ("ANTHROPIC_API_KEY", "TRIAGE_HOME")


@click.command(
    "init",
    help="Five questions, then triage.yml and .env; nothing is overwritten. SLACK_BOT_TOKEN, SLACK_APP_TOKEN, "
    "ANTHROPIC_API_KEY and TRIAGE_HOME are taken from the environment, where they are set.",
)
@click.option("--folder", type=FILE, metavar="DIR", default=Path(), help="where the files go (default: here)")
@click.option("--watch", metavar="C…=name,C…", help="channels to watch")
@click.option("--ops-channel", metavar="C…", help="the private channel for drafts")
@click.option("--codebase", metavar="DIR|URL", help="a git checkout, or an address")
@click.option("--approvers", metavar="U…,S…", help="who may approve")
@click.option("--sessions", metavar="yes|no|U…", help="heartbeats over the checkout, and who is told")
@click.option("--no-input", is_flag=True, help="ask nothing; use the default of every missing option")
def command(folder: Path, no_input: bool, **options: str | None) -> int:
    """Ask, write the files, and say what comes next; exit code 0.

    Raises:
        InputError: a file is in the way, an answer is missing, or the input ended.
        StoreError: the disk refuses.
    """
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; create it first, or give another --folder")
    if is_there(folder / CONFIG):
        raise InputError(
            f"{folder / CONFIG} is there; edit it, and `triage doctor` says what is wrong. Nothing was written."
        )
    secrets = {} if is_there(folder / SECRETS) else {SECRETS: _env()}
    given = {key: value for key, value in options.items() if value is not None}
    try:
        if not no_input:
            print(_WELCOME)
        answers = ask_all(given, None if no_input else input, print)
    except EOFError:
        print()
        raise InputError("The input ended before the last answer; nothing was written.") from None
    except KeyboardInterrupt:
        print("\nNothing was written.")
        raise
    texts = {CONFIG: config_text(answers), **secrets}
    write_files(folder, texts)
    print(next_steps(folder, list(texts), answers))
    return 0


def next_steps(folder: Path, written: list[str], answers: Answers) -> str:
    """Return what is left to do; where there are no tokens yet that begins with the app and where it comes from."""
    lines = [f"Wrote {' and '.join(written)} in {folder}.", ""]
    enter = f"cd {shlex.quote(str(folder))} && " if folder != Path.cwd() else ""
    chats = " and each watched channel" if answers["watch"] else " first"
    steps = [
        f"Invite the bot to {answers['ops_channel']}, which must be private,{chats}:\n     /invite @triage",
        f"{enter}triage doctor\n     Until the bot runs, only `bot` and `connection` may fail.",
        "triage run",
    ]
    if not _has_tokens(folder):
        steps.insert(0, f"Install the app to the workspace and put its two tokens into {SECRETS}.")
        lines += [*_how_to_create_the_app(), ""]
    return "\n".join([*lines, "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, start=1))])


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


def _env() -> str:
    """Return the text of .env: what the environment says, and for a token that is not there a line to fill in.

    Raises:
        InputError: a value of the environment cannot be used; it is not repeated.
    """
    found = {name: os.environ[name] for name in (*_PLACEHOLDERS, *_OPTIONAL) if os.environ.get(name)}
    for name, value in found.items():
        if problem := wrong_token(name, value) if name in _PLACEHOLDERS else None:
            raise InputError(f"{problem}; nothing was written")
        if set(value) & set("'\"\\\n$"):
            raise InputError(f"{name} contains a quote, a $ or a backslash; unset it, and put it into {SECRETS} later")
    lines = {**_PLACEHOLDERS, **found}
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in lines.items())  # Docker keeps needless quotes

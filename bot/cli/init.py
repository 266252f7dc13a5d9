"""`triage init`: five questions, each answer checked as it is typed, then one commented triage.yml, and .env.

What is given as an option is not asked for; tokens come from the environment only, never from an option, which `ps`
would show. Until the last answer nothing is written; then both files or neither, for the owner's eyes, and over no
other file: a triage.yml is edited. The app's manifest is manifest.yml of the folder one is in, else the one beside
the program.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import click
import yaml

from bot.cli.init_questions import BACK, Answers, ask_all, config_text
from bot.cli.options import FILE
from bot.config.environment import read_environment, require_signing_secret, require_tokens, wrong_token
from bot.config.settings import load_settings
from bot.errors import ConfigError, InputError, refusal

CONFIG: Final = "triage.yml"
SECRETS: Final = ".env"
APPS: Final = "https://api.slack.com/apps"
_PLACES: Final = (Path("manifest.yml"), Path(__file__).parents[2] / "manifest.yml")


def is_there(path: Path) -> bool:
    """Whether a name is taken, be it by a link that leads nowhere."""
    return path.exists() or path.is_symlink()


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write CONFIG and SECRETS by their names, once it is sure that the bot can read them; all or none, over no other.

    Raises:
        ConfigError: the bot cannot read one; nothing is written.
        InputError: a file came to be meanwhile; nothing is written.
        StoreError: the disk refuses; nothing is left behind.
    """
    drafts = {folder / name: folder / f".tmp-{os.getpid()}-{name}" for name in texts}
    done: list[Path] = []
    try:
        for path, draft in drafts.items():
            _write(draft, texts[path.name])
            _check(path.name, draft)
        for path, draft in drafts.items():
            os.link(draft, path)  # unlike a rename it never takes the place of another file
            done.append(path)
    except BaseException as error:
        for path in done:
            path.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            raise InputError(f"{error.filename2 or folder} already exists; nothing written") from error
        if isinstance(error, OSError):
            raise refusal(f"cannot write in {folder}", error, "become the folder's owner, or free space") from error
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _check(name: str, draft: Path) -> None:
    if name == SECRETS:
        read_environment({}, dotenv=draft)
    else:
        load_settings(draft)


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def read_manifest() -> dict[str, Any] | None:
    """Return the manifest, None where it is not at hand."""
    for path in _PLACES:
        try:
            manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
            manifest["oauth_config"]["scopes"]["bot"]
        except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
            continue
        return dict(manifest)
    return None


def manifest_link(manifest: dict[str, Any]) -> str:
    """Return the link that opens "Create New App" with the manifest filled in.

    Source: https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests, Sharing manifests.
    """
    return f"{APPS}?new_app=1&manifest_json={quote(json.dumps(manifest, separators=(',', ':')))}"


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

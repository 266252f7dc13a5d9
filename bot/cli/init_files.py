"""Writes the first triage.yml and .env: both or neither, over no other file, for the owner's eyes.

The app's manifest as Slack wants it: manifest.yml of the folder one is in, else the one beside the program.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from bot.config.environment import read_environment
from bot.config.settings import load_settings
from bot.errors import InputError, refusal

CONFIG: Final = "triage.yml"
SECRETS: Final = ".env"
_HEADER: Final = "# Written by `triage init`. Everything else that can be set: triage.example.yml.\n\n"


def refuse_existing(folder: Path) -> None:
    """Raise InputError if one of the files is there."""
    there = [name for name in (CONFIG, SECRETS) if (folder / name).exists() or (folder / name).is_symlink()]
    if there:
        raise InputError(
            f"{' and '.join(there)} of {folder} would be overwritten; edit what is there, or give another --folder. "
            "Nothing was written."
        )


def write_files(folder: Path, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
    """Write both files once it is sure that the bot can read them.

    Raises:
        ConfigError: the bot would refuse them; nothing is written.
        InputError: one of them came to be meanwhile; nothing is written.
        StoreError: the disk refuses; nothing is left behind.
    """
    config = _HEADER + yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True)
    env = "".join(f"{name}={shlex.quote(value)}\n" for name, value in secrets.items())  # Docker keeps needless quotes
    new = {folder / CONFIG: config, folder / SECRETS: env}
    drafts = {path: path.with_name(f".tmp-{os.getpid()}-{path.name}") for path in new}
    done: list[Path] = []
    try:
        for path, text in new.items():
            _write(drafts[path], text)
        load_settings(drafts[folder / CONFIG])
        read_environment({}, dotenv=drafts[folder / SECRETS])
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


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


APPS: Final = "https://api.slack.com/apps"
_PLACES: Final = (Path("manifest.yml"), Path(__file__).parents[2] / "manifest.yml")


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

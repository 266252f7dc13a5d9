"""Writes triage.yml and .env: both or neither, over no other file, for the owner's eyes.

The app's manifest as Slack wants it: manifest.yml of the folder one is in, else the one beside the program.
"""

from __future__ import annotations

import json
import os
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
APPS: Final = "https://api.slack.com/apps"
_PLACES: Final = (Path("manifest.yml"), Path(__file__).parents[3] / "manifest.yml")


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

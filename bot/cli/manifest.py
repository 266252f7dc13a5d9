"""The app's manifest as Slack wants it: manifest.yml of the folder one is in, else the one beside the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

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

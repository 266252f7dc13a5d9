"""The scopes the app asks for and what for, from manifest.yml, where that stands beside each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from reference.markdown import code, plain, table
from reference.settings import Undescribed

MANIFEST: Final = Path(__file__).resolve().parents[1] / "manifest.yml"
_LIST: Final = re.compile(r"^ +bot:\n((?: +- .*\n)+)", re.MULTILINE)
_SCOPE: Final = re.compile(r"^ +- ([\w.:]+)(?: # (.*))?$", re.MULTILINE)


def scopes_part(manifest: str | None = None) -> str:
    """Return a table of all scopes; raises Undescribed where one lacks its comment."""
    listed = _LIST.search(manifest or MANIFEST.read_text(encoding="utf-8"))
    scopes = _SCOPE.findall(listed[1] if listed else "")
    if mute := [scope for scope, why in scopes if not why]:
        raise Undescribed(", ".join(mute))
    return table(["scope", "what for"], [[code(scope), plain(why)] for scope, why in scopes])

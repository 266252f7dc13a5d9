"""Bodies as Slack delivers them, field for field; ids and names are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def payload(name: str) -> dict[str, Any]:
    """Return a fresh copy of a recorded body."""
    body: dict[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return body

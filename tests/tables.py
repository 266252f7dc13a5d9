"""Tables of cases as YAML, read at import by every process that collects tests: with libyaml, ten times sooner."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_cases(path: Path) -> Any:
    """Return what a table says."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)

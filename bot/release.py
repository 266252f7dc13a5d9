"""The version of triage, read from the installed package or pyproject.toml, which alone holds the number."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "triage-bot"
_PROJECT: Final = re.compile(rf'(?m)^name = "{DISTRIBUTION}"\nversion = "(?P<version>[^"\n]+)"$')
_PYPROJECT: Final = Path(__file__).parents[1] / "pyproject.toml"


@cache
def program_version() -> str:
    """Return the version of the program that runs, such as `1.0.0`; `unknown` where nothing says.

    In a checkout its pyproject.toml is read: what pip noted there is as old as the last `pip install`.
    """
    with suppress(OSError):
        if found := _PROJECT.search(_PYPROJECT.read_text(encoding="utf-8")):
            return found["version"]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"

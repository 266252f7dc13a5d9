"""YAML tables as plain data, and patterns written in parts; tables.py checks a table by its type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from bot.errors import ConfigError

_PART: Final = re.compile(r"\{([A-Z_]+)\}")


def load_table(module: str, name: str) -> Any:
    """Return the data in the file `name` beside a module, whose `__file__` is given.

    Raises:
        ConfigError: the file cannot be read or is no YAML; the message names it.
    """
    import yaml  # here: many modules hold a table, and few commands read one

    path, loader = Path(module).parent / name, getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text("utf-8"), Loader=loader)  # noqa: S506 - a safe loader
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {error}") from error


def fill(pattern: str, parts: Mapping[str, str]) -> str:
    r"""Return a pattern with the parts it names put in; a part may name others.

    >>> fill(r"{KEY}-\d{3}", {"KEY": "key_{HEX}", "HEX": "[0-9a-f]"})
    'key_[0-9a-f]-\\d{3}'
    """
    return _PART.sub(lambda name: fill(parts[name[1]], parts), pattern)

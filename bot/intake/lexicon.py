"""The word lists that ship with the classifier.

Reads words/<language>.yml beside this file, once each. `greeting`, `question`, `alarm`, `except`, `settled` and
`unsettled` hold keywords (see `bot.intake.keywords`), `ack` and `thanks` regular expressions for a whole message of
under 30 characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from bot.errors import ConfigError

LANGUAGES: Final = ("en", "es", "pt", "de", "fr", "id", "ja", "zh")
SECTIONS: Final = ("greeting", "ack", "thanks", "question", "alarm", "except", "settled", "unsettled")

_WORDS: Final = Path(__file__).parent / "words"
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def words(language: str) -> Mapping[str, tuple[str, ...]]:
    """Return one language's lists by section.

    Raises:
        ConfigError: no list ships for the language.
    """
    if language not in LANGUAGES:
        raise ConfigError(f"classifier.languages: {language!r} is not shipped; choose from {', '.join(LANGUAGES)}")
    lists = yaml.load((_WORDS / f"{language}.yml").read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader
    return {section: tuple(lists.get(section, ())) for section in SECTIONS}


def shipped(languages: Iterable[str], section: str) -> tuple[str, ...]:
    """Return one section of several languages in one list; raises ConfigError as `words` does."""
    return tuple(entry for language in languages for entry in words(language)[section])

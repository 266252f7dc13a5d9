"""The part of triage.yml about automatic replies. Values only; bot/config/settings.py reads them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator


def _word(value: object) -> object:
    """Return the word that YAML takes for a truth value: `on` and `off` without quotes."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Autonomy = Annotated[Literal["off", "shadow", "on"], BeforeValidator(_word)]
"""Whether replies may be sent without a human."""

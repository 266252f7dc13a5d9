"""The words a model is told its job in: one Markdown file each, constant, so that they can be cached."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the text of `<name>.md`; nothing is ever filled in, since data travels apart
    (bot/agent/prompts/prompt_sections.py)."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()

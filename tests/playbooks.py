"""Playbooks for tests: as sessions are given them, and anything a person or a cat may have typed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

import bot.heartbeat
from bot.domain.playbook import Playbook, parse

TEMPLATES = Path(bot.heartbeat.__file__).parent / "templates"

_PIECES = st.sampled_from(
    [
        *("# Quick Tasks", "## hourly", "### Daily", "## Notes", "# Urgent Flags", "## Timestamps", "# Other", "## "),
        *("- [ ] look", "- [x] done", "* item", "1. first", "  - sub", "\t- tabbed", "-", "- [ ]", "- (none)", "-[ ]"),
        *("- [x](l)", "#tag", "plain text", "  indented", "", " ", "---", "```", "````", "~~~", "```sh", "- ```"),
        *("<!--", "-->", "<!-- x -->", "- [ ] a <!-- b", "c --> d", "`<!--`", "\ufeff", "\x00", "\x0c", "\u2028"),
        *("- Last quick: (never)", "* last HOURLY: soon"),
    ]
)
_ENDS = st.sampled_from(["\n", "\r\n", "\r", "", "\n\n"])
FILES = st.lists(st.tuples(_PIECES, _ENDS).map("".join), max_size=14).map("".join) | st.text()


def template(name: str) -> Playbook:
    """A playbook as a session is given it."""
    return parse((TEMPLATES / f"{name}.md").read_text("utf-8"))

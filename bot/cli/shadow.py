"""What the bot would have drafted for past questions: the offline investigator's drafts, checked, shown to nobody else.

Whatever keys there are, no model is called; each run leaves its record under runs/ as `triage investigate` does.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from typing import Final

from bot.cli.findings import Findings, as_json, look_into
from bot.cli.sources import open_sources
from bot.domain.approval import SEARCH_RESULT
from bot.domain.events import Event
from bot.domain.hidden import one_line
from bot.environment import Environment
from bot.errors import TriageError
from bot.settings import Settings

WIDTH: Final = 80
DRAFT_LINES: Final = 4
DRAFT_CHARS: Final = 2_000
REFS: Final = 3

Draft = tuple[str, str]
"""A draft to read, and as JSON."""


def drafts_of(questions: Sequence[Event], settings: Settings, environment: Environment) -> list[Draft]:
    """Return a draft for each question; one that fails says why and stops no other.

    Raises:
        ConfigError: the codebase is no git checkout.
    """
    offline = environment.model_copy(update={"anthropic_api_key": None})
    sources = open_sources(settings.model_copy(update={"provider": "anthropic"}), offline)
    drafts = []
    for number, event in enumerate(questions, 1):
        print(f"drafting {number} of {len(questions)} …", file=sys.stderr)
        try:
            found = look_into(event.content, sources, say=lambda _: None)
        except TriageError as error:
            failed = json.dumps({"question": event.content, "problem": str(error)})
            drafts.append((f"{_head(event)}\n  failed: {one_line(str(error), WIDTH - 10)}", failed))
            continue
        drafts.append((_shown(event, found), as_json(found)))
    return drafts


def _shown(event: Event, found: Findings) -> str:
    ret = found.found.ret
    mark = f"would be shown as: {SEARCH_RESULT}" if found.passed else "✗ would be shown with objections"
    words = one_line(ret.draft_reply, DRAFT_CHARS)
    said = textwrap.wrap(words, WIDTH - 4, max_lines=DRAFT_LINES, placeholder=" …")
    refs = [one_line(ref.ref, WIDTH - 4) for ref in ret.evidence_refs[:REFS]]
    return "\n".join([_head(event), f"  {mark}", *(f"    {line}" for line in (*said, *refs))])


def _head(event: Event) -> str:
    return f"\n{event.chat_id} {event.message_id} {one_line(event.content, 46)}"

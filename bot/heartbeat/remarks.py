"""What a beat says about itself beside its findings: what it changed, what it may not run, what stands in a wrong tier.

Pure; shown small under an alert.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.domain.default_commands import DEFAULT_COMMANDS
from bot.domain.hidden import one_line
from bot.heartbeat.edits import What
from bot.heartbeat.refused_commands import not_allowed, not_run
from bot.heartbeat.view import BeatView

SHOWN: Final = 5


def remarks(view: BeatView) -> Iterator[str]:
    """Yield the remarks of one beat, at most a handful of each kind."""
    changed = view.edits.described()
    if changed:
        yield changed
    added = [
        argv for edit in view.edits.made if edit.what is What.ADD_TASK for argv in not_allowed(view.session, edit.text)
    ]
    refused = list(dict.fromkeys([*view.probes.refused, *added]))[:SHOWN]
    yield from map(not_run, refused)
    if refused and view.session.beat.commands == DEFAULT_COMMANDS:
        yield "a list of `commands` in triage.yml replaces the built-in one; see docs/heartbeats.md"
    if late := view.probes.late:
        first = " ".join(late[0])
        yield f"no time was left for {len(late)} command{'s' * (len(late) > 1)} of HEARTBEAT.md, from `{first}` on"
    for move in view.moves[:SHOWN]:
        yield f"“{one_line(move.text, 80)}” {move.why}: move it to {move.to_tier}?"

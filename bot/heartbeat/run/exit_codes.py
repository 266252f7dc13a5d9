"""What a command's exit code says of a check: code decides that, whoever else looks at the output. Pure.

A check of the team's own that exits with an error is failing, and is never called well. git, gh and glab exit with an
error for other reasons too; what they print is judged by its fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.playbooks.playbook_entries import PlaybookEntry, unmarked
from bot.heartbeat.playbooks.check_identity import identity_of
from bot.heartbeat.run.beat_view import BeatView
from bot.heartbeat.run.probes import ProbeResult

FAILING: Final = "failing"
"""The id of the finding that a check of the team's own fails."""
SHOWN_LINES: Final = 8
_OTHERS: Final = frozenset({"git", "gh", "glab", "triage"})


def is_own(result: ProbeResult) -> bool:
    """Whether a command is a check of the team's own."""
    return result.argv[0] not in _OTHERS


def says_no(result: ProbeResult) -> bool:
    """Whether a check of the team's own ran to its end and failed; what was killed or never started said nothing."""
    return is_own(result) and (result.exit_code or 0) > 0


def is_good(view: BeatView, task: PlaybookEntry) -> bool:
    """Whether all commands of a task were run and none failed; a task without one is the model's to judge."""
    if not view.probes.names_commands(task):
        return True
    return view.probes.covers(task) and all(result.problem is None for result in view.probes.results_for(task))


def failures(view: BeatView, task: PlaybookEntry) -> list[ProbeResult]:
    """Return the checks of a task that failed."""
    return [result for result in view.probes.results_for(task) if says_no(result)]


def is_unreported(view: BeatView) -> bool:
    """Whether a due check fails and nothing is open that says so: that is news, however long it has failed."""
    reported = {each.task for each in view.open_findings}
    return any(failures(view, task) and identity_of(task) not in reported for task in view.tasks)


def needs_full_look(view: BeatView) -> bool:
    """Whether a check fails, or cannot be run any more, in a way that nobody may pass over without a full run."""
    return is_unreported(view) or any(is_own(result) and result.problem for result in view.changed)


def failure_text(result: ProbeResult) -> str:
    """Return what an alert says of a check that failed: its exit code and its last words."""
    said = [line for line in result.output.splitlines() if line.strip()][-SHOWN_LINES:]
    return f"`{result.command}` fails (exit code {result.exit_code})\n{listed(said)}"


def titled(task: PlaybookEntry, *texts: str) -> str:
    """Return what was seen under the title of its task, which is what stands before the command."""
    said = unmarked(task.text)
    title = said.partition("`")[0].rstrip(" :") or said
    return "\n\n".join(f"{title}: {text}" for text in texts)


def listed(lines: Sequence[str]) -> str:
    """Return the first lines as a list, and how many more there are."""
    shown = [f"- `{line.replace('`', chr(39))[:160]}`" for line in lines[:SHOWN_LINES]]
    rest = len(lines) - len(shown)
    return "\n".join([*shown, *([f"- … {rest} more"] if rest else [])])

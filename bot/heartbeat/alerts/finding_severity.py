"""How urgent a finding is: by code, from what the playbook, the commands and the words say. Pure.

A task that begins with `!` pages. So do words of an outage or of trouble in production. An alarm word, a flag or a
command that fails wants somebody to act. Whatever else is found is what the session's `severity` says, except what
merely happened once (new commits): that is good to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from bot.domain.playbooks.playbook_entries import PlaybookEntry, is_marked_urgent
from bot.domain.severity import MAX_READ_CHARS, Severity, highest, severity_of_words
from bot.heartbeat.run.beat_view import BeatView
from bot.intake.classifier.classification import is_alarm
from bot.intake.classifier.rules import Rules

_CODE: Final = re.compile(r"`[^`\n]{0,400}`")
_FOREIGN: Final = ("git", "gh", "glab")
"""What these print are titles and names, whose words say nothing of how things stand."""

_shipped = cache(Rules)


def severity_of(view: BeatView, text: str, task: PlaybookEntry | None, *, is_event: bool = False) -> Severity:
    """Return the severity of a finding of `task` (None: of no task of the playbook); the most urgent sign counts."""
    return highest(_signs(view, text[:MAX_READ_CHARS], task, is_event=is_event))


def severity_of_flag(view: BeatView, text: str) -> Severity:
    """Return the severity of an urgent flag: somebody is to act, at least."""
    signs = [Severity.PAGE] if is_marked_urgent(text) else []
    return highest([Severity.ACT, *signs, *_signs(view, text[:MAX_READ_CHARS], None)])


def _signs(view: BeatView, text: str, task: PlaybookEntry | None, *, is_event: bool = False) -> Iterator[Severity]:
    failing = [result for result in view.probes.results_for(task) if result.exit_code] if task else []
    has_failed_check = any(result.argv[0] not in _FOREIGN for result in failing)
    said = text.replace("`", " ") if has_failed_check else _CODE.sub(" ", text)
    if (task is not None and is_marked_urgent(task.text)) or is_alarm(said, _shipped()):
        yield Severity.PAGE
    if failing:
        yield Severity.ACT
    yield severity_of_words(said)
    default = view.session.beat.severity
    yield Severity.KNOW if is_event and default is not Severity.PAGE else default

"""The weekly review: what was answered, what went wrong and where, and what to do about it; each line with its link.

Reads rollups, the whole records of the few threads shown, judgements; needs no running bot. Writes
only rollups that are missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple

from bot.casework.posting.feedback import read_feedback
from bot.casework.reports.acceptance import errors_in
from bot.casework.reports.classifier_samples import ErrorRate, Judgement
from bot.casework.reports.journal_history import JournalHistory, count_past
from bot.casework.reports.measures import Window, dollars, seconds, to_us
from bot.casework.reports.metrics_report import Tally, tally
from bot.casework.reports.rollups import Rollups, uncounted_words
from bot.casework.reports.thread_facts import ThreadFacts, facts_of, objections_to
from bot.domain.citations.links import sibling_message_link
from bot.domain.questions.feedback import votes_words
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution, ThreadState
from bot.ports import ArchivedDocument, Store
from bot.ports.collections import THREADS, Collection
from bot.ports.migrations import migrated
from bot.ports.threads import Threads

MAX_QUESTIONS: Final = 2_000
"""Questions of a week that are read, the newest first."""

MAX_PERMALINKS: Final = 50
"""Threads that are looked at for one with a link."""

DAYS: Final = 7
WEEKS: Final = 4
MAX_LINES: Final = 8
"""Of one part; the rest is counted."""

QUESTION_CHARS: Final = 90


class ClosedThread(NamedTuple):
    """A thread that closed: its place in the archive and its row."""

    archived: ArchivedDocument
    facts: ThreadFacts


class ClosedWeek:
    """The threads that closed in a window, the newest first; `unread` counts those that have no row.

    They cannot be read, or are not counted yet. Each method raises StoreError where the disk refuses.
    """

    def __init__(self, store: Store, rows: Sequence[ThreadFacts], window: Window) -> None:
        self._documents, self._threads = store.documents, Collection(store.documents, THREADS)
        named = [one for one in store.documents.archived(THREADS.name, since=window.start) if window.holds(one.at)]
        by_id: dict[str, list[ThreadFacts]] = {}
        for row in rows:
            by_id.setdefault(row.thread_id, []).append(row)
        self.threads = [ClosedThread(one, _row_of(one, found)) for one in named if (found := by_id.get(one.doc_id))]
        self.unread = len(named) - len(self.threads)

    def ended(self, resolution: Resolution) -> list[ClosedThread]:
        """Return those that ended in one way."""
        return [one for one in self.threads if one.facts.resolution == resolution]

    def read(self, threads: Sequence[ClosedThread]) -> Iterator[ThreadState]:
        """Return the records of some of them; one that is gone meanwhile is left out."""
        return filter(None, (self._threads.parse_archived(one.archived) for one in threads))

    def permalink(self) -> str | None:
        """Return the link of the newest thread that has one."""
        return next((one.permalink for one in self.read(self.threads[:MAX_PERMALINKS]) if one.permalink), None)

    def questions(self) -> Iterator[str]:
        """Yield what was asked, the newest first, at most `MAX_QUESTIONS`; records are not validated for it."""
        for one in self.threads[:MAX_QUESTIONS]:
            document = self._documents.read_archived(THREADS.name, one.archived)
            content = migrated(self._documents, THREADS.name, document) if document is not None else None
            if content is not None:
                yield str(content.get("question", ""))


def _row_of(archived: ArchivedDocument, rows: Sequence[ThreadFacts]) -> ThreadFacts:
    """Return the row of an archived record; a thread that was opened again and closed has several."""
    at = to_us(archived.at)
    return min(rows, key=lambda row: abs((row.closed_us or 0) - at))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewLine:
    """One thing to look at; `link` is a message's address, a thread's id, a note's name or a key of triage.yml."""

    text: str
    link: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewPart:
    """One kind of thing that happened, how often, and what to do; without lines there is nothing to do."""

    title: str
    count: int
    todo: str
    lines: Sequence[ReviewLine] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WeeklyReview:
    """The week before a moment; `errors` has (ignored, taken for work) of each week, the latest first."""

    window: Window
    tally: Tally
    parts: Sequence[ReviewPart]
    errors: Sequence[tuple[ErrorRate, ErrorRate]]
    unread: int = 0
    """Closed threads that could not be read, or are not counted yet."""
    uncounted: str = ""
    """What is not in the counts yet, in words."""

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell: a week without questions, judgements and things to do has nothing."""
        return bool(self.parts or self.tally.threads or self.tally.replies or any(one.n for one in self.errors[0]))

    @property
    def summary(self) -> str:
        """The week in one sentence."""
        of = self.tally
        return (
            f"{counted(of.threads, 'question')}, {of.replies:,} answered "
            f"({of.approved:,} as drafted, {of.edited:,} edited); "
            f"median time to reply {seconds(of.to_reply_s)}, cost per answer {dollars(of.cost_per_reply_usd)}; "
            f"feedback {votes_words(of.votes)}"
        )


def build_review(
    store: Store, rollups: Rollups, now: datetime, codebases: Sequence[str] = (), *, at_most: int | None = None
) -> WeeklyReview:
    """Return the week before now; `codebases` are those that the team may see, by id. Raises StoreError."""
    window = Window.last(DAYS, now)
    past = count_past(store, rollups, window.start, now, at_most=at_most)
    week = ClosedWeek(store, past.threads, window)
    dismissed, edited, auto = map(week.ended, (Resolution.DISMISSED, Resolution.EDITED, Resolution.AUTO))
    bounced = [one for one in week.threads if one.facts.objections]
    parts = (
        _part("Dismissed", dismissed, "read the reasons; Remember this keeps one", week, _reason),
        _part("Edited before it was posted", edited, _edit_advice(edited), week, _kind),
        _part("Bounced in round 1", bounced, _bounce_advice(bounced), week, _objection),
        _part("Sent automatically", auto, "look whether each was right", week, _kind),
        _not_helpful(store, window),
        _ignored(past, window, week),
        _unasked(codebases, week, store),
    )
    return WeeklyReview(
        window=window,
        tally=tally(past, window),
        parts=[part for part in parts if part.count],
        errors=[errors_in(past, week) for week in window.weeks(WEEKS)],
        unread=week.unread,
        uncounted=uncounted_words(past.uncounted),
    )


def _part(
    title: str, threads: Sequence[ClosedThread], todo: str, week: ClosedWeek, say: Callable[[ThreadState], str]
) -> ReviewPart:
    lines = [
        ReviewLine(
            text=f"{one_line(state.question, QUESTION_CHARS)} · {say(state)}", link=state.permalink or state.thread_id
        )
        for state in week.read(threads[:MAX_LINES])
    ]
    return ReviewPart(title=title, count=len(threads), todo=todo, lines=lines)


def _reason(state: ThreadState) -> str:
    return one_line(state.dismiss_reason or "no reason was given", QUESTION_CHARS)


def _kind(state: ThreadState) -> str:
    return str(state.question_type)


def _objection(state: ThreadState) -> str:
    return ", ".join(objections_to(state)[:3])


def _bounce_advice(bounced: Sequence[ClosedThread]) -> str:
    why = Counter(reason for one in bounced for reason in one.facts.objections)
    most = ", ".join(f"{name} ({count})" for name, count in why.most_common(3))
    return f"most often: {most}; `triage why <link>` shows both rounds"


def _edit_advice(edited: Sequence[ClosedThread]) -> str:
    kinds = Counter(one.facts.question_type for one in edited)
    most = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(3))
    return f"most often: {most}; Remember this keeps what was changed"


def _ignored(past: JournalHistory, window: Window, week: ClosedWeek) -> ReviewPart:
    """Return the messages that people judged to be wrongly left alone."""
    wrong = [
        one for one in past.judged if window.holds(one.at) and not one.right and one.classification != "actionable"
    ]
    latest: Mapping[tuple[str, str], Judgement] = {one.place: one for one in wrong}
    known = week.permalink() if latest else None
    lines = [
        ReviewLine(
            text=f"a message in {one.chat_id} was left alone as {one.classification}",
            link=sibling_message_link(known, one.chat_id, one.message_id) or f"{one.chat_id} {one.message_id}",
        )
        for one in list(latest.values())[:MAX_LINES]
    ]
    todo = "add its words to `classifier`, or `triage metrics --train`"
    return ReviewPart(title="Wrongly ignored", count=len(latest), todo=todo, lines=lines)


def _not_helpful(store: Store, window: Window) -> ReviewPart:
    """Return the replies that somebody found not helpful in the window and has not changed their mind about."""
    votes = [(one, one.votes.values()) for one in read_feedback(store)]
    found = [one for one, cast in votes if any(not vote.is_helpful and window.holds(vote.at) for vote in cast)]
    lines = [
        ReviewLine(
            text=f"{one_line(one.question, QUESTION_CHARS)} · {votes_words(one.counts)}",
            link=one.permalink or one.thread_id,
        )
        for one in found[:MAX_LINES]
    ]
    todo = "ask anew with a mention in its thread, answer there, or correct the note it rests on"
    return ReviewPart(title="Not helpful", count=len(found), todo=todo, lines=lines)


def _unasked(codebases: Sequence[str], week: ClosedWeek, store: Store) -> ReviewPart:
    """Return the codebases that no question names and no answer cites; none where there is one, or no question."""
    unasked = _not_asked(codebases, week, store) if len(codebases) > 1 else []
    lines = [ReviewLine(text=name, link=f"triage.yml: codebases.{name}") for name in unasked[:MAX_LINES]]
    todo = "tell the team that it can be asked about, or take it out of `codebases` in triage.yml"
    return ReviewPart(title="Codebases nobody asked about", count=len(unasked), todo=todo, lines=lines)


def _not_asked(codebases: Sequence[str], week: ClosedWeek, store: Store) -> list[str]:
    open_threads = Threads(store.documents).open_threads()
    if not (week.threads or open_threads):
        return []
    rows = [*(one.facts for one in week.threads), *map(facts_of, open_threads)]
    cited = {name for row in rows for name in row.cited}
    named = {name: re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in codebases if name not in cited}
    for question in chain((state.question for state in open_threads), week.questions()):
        if not named:
            break
        named = {name: pattern for name, pattern in named.items() if not pattern.search(question)}
    return list(named)

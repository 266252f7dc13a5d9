"""What holds up a thread: what the machine's work waits for, and what casts doubt on a draft that waits. Pure.

A doubt is a code, and who or what it is about; the sentence is made of them.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from pydantic import AwareDatetime

from bot.domain.alerts import AlertState
from bot.domain.frozen_value import FrozenValue

MODEL_PAUSE: Final = timedelta(seconds=15)
"""The first pause where the provider does not say; it doubles with every attempt."""

LEAST_ADVISED_PAUSE: Final = timedelta(seconds=1)
"""The first pause where it does say when; it doubles too, since the advice may not help."""

MAX_MODEL_PAUSE: Final = timedelta(minutes=15)
CODEBASE_PAUSE: Final = timedelta(seconds=5)


class WaitFor(StrEnum):
    """What is away."""

    CODEBASE = "codebase"
    MODEL = "model"


class Wait(FrozenValue):
    """Work that was put off `tries` times in a row; `why` is a code of bot/agent/provider_errors.py, or empty."""

    what: WaitFor
    why: str = ""
    since: AwareDatetime
    until: AwareDatetime
    tries: int = 1

    def is_early(self, at: datetime) -> bool:
        """Whether it is too early to try again; a clock that was set back does not make the pause longer."""
        return timedelta(0) < self.until - at <= MAX_MODEL_PAUSE


def next_wait(
    before: Wait | None, what: WaitFor, *, at: datetime, why: str = "", retry_after_s: float | None = None
) -> Wait:
    """Return the wait after an attempt that failed at `at`; `before` is the one after the attempt before it.

    It goes on since `before` began, also where something else is away now.

    >>> from datetime import UTC
    >>> first = next_wait(None, WaitFor.MODEL, at=datetime(2026, 1, 1, tzinfo=UTC))
    >>> second = next_wait(first, WaitFor.MODEL, at=first.until)
    >>> (first.until - first.since).seconds, (second.until - first.until).seconds, second.tries
    (15, 30, 2)
    """
    tries = before.tries + 1 if before and before.what is what else 1
    until = at + _pause(what, tries, retry_after_s)
    return Wait(what=what, why=why, since=before.since if before else at, until=until, tries=tries)


def _pause(what: WaitFor, tries: int, retry_after_s: float | None) -> timedelta:
    if what is WaitFor.CODEBASE:
        return CODEBASE_PAUSE
    growth = 1 << min(tries - 1, 16)
    if retry_after_s is None:
        return min(MAX_MODEL_PAUSE, MODEL_PAUSE * growth)
    return min(MAX_MODEL_PAUSE, max(timedelta(seconds=retry_after_s), LEAST_ADVISED_PAUSE * growth))


WORDING_CHARS: Final = 6

_EDITED: Final = re.compile(
    r"the question was edited(?: \(to wording (?P<about>\w{0,40})\))?; the draft answers its earlier wording"
)
"""Older versions named the digest of the wording an edit was made to."""


class DoubtCode(StrEnum):
    """Kinds of doubt, as they stand on disk."""

    EDITED = "edited"
    ALERT = "alert"
    WROTE = "wrote"
    SETTLED = "settled"  # of earlier releases: the asker wrote that no answer is needed any more
    CONTEXT = "context"
    CODE_CHANGED = "code-changed"
    NOT_POSTED = "not-posted"
    NOT_SENT = "not-sent"
    MESSAGE_GONE = "message-gone"
    QUESTION_DELETED = "question-deleted"
    CHANNEL_ARCHIVED = "channel-archived"
    OPS_CHANNEL_PUBLIC = "ops-channel-public"
    OTHER = "other"


_SENTENCES: Final = MappingProxyType(
    {
        DoubtCode.EDITED: "the question was edited; the draft answers its earlier wording",
        DoubtCode.ALERT: "the alert {about}",
        DoubtCode.WROTE: "<@{by}> wrote in the thread ({about} UTC)",
        DoubtCode.SETTLED: "<@{by}> wrote: {about}",
        DoubtCode.CONTEXT: "<@{by}> added context during the investigation",
        DoubtCode.CODE_CHANGED: "`{about}` changed in the codebase",
        DoubtCode.NOT_POSTED: "<@{by}> approved this ({about})",
        DoubtCode.NOT_SENT: "it was to be sent automatically ({about})",
        DoubtCode.MESSAGE_GONE: "the message to answer is gone",
        DoubtCode.QUESTION_DELETED: "the question was deleted",
        DoubtCode.CHANNEL_ARCHIVED: "the channel was archived",
        DoubtCode.OPS_CHANNEL_PUBLIC: "the ops channel is no longer private",
        DoubtCode.OTHER: "{about}",
    }
)
_BECAME: Final = MappingProxyType(
    {
        AlertState.FIRING: "fired again",
        AlertState.RESOLVED: "was resolved",
        AlertState.ACKNOWLEDGED: "was acknowledged",
        AlertState.INFO: "became a notice",
    }
)
_HARD: Final = frozenset(
    {DoubtCode.MESSAGE_GONE, DoubtCode.QUESTION_DELETED, DoubtCode.CHANNEL_ARCHIVED, DoubtCode.OPS_CHANNEL_PUBLIC}
)


class Doubt(FrozenValue):
    """One doubt; two with the same fields are the same one. `by` is a user id."""

    code: DoubtCode
    by: str = ""
    about: str = ""
    """What tells two doubts of one kind apart: a time, the digest of a wording, a citation, the words themselves."""

    @property
    def is_hard(self) -> bool:
        """Whether it forbids posting; of the others a human who has seen them may post anyway."""
        return self.code in _HARD

    @property
    def text(self) -> str:
        """The doubt as its card shows it."""
        return _SENTENCES[self.code].format(by=self.by, about=self.about)

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the doubt of a record that holds the sentence alone.

        >>> Doubt.read("<@U1> wrote: never mind")
        Doubt(code=<DoubtCode.SETTLED: 'settled'>, by='U1', about='never mind')
        """
        found = ((code, pattern.fullmatch(text)) for code, pattern in _PATTERNS.items())
        return next(cls(code=code, **match.groupdict("")) for code, match in found if match)


def _pattern(sentence: str) -> re.Pattern[str]:
    by, about = "(?P<by>[^>]{0,40})", "(?P<about>.*)"
    return re.compile(re.escape(sentence).replace(r"\{by\}", by).replace(r"\{about\}", about), re.DOTALL)


_PATTERNS: Final = {
    code: _EDITED if code is DoubtCode.EDITED else _pattern(sentence) for code, sentence in _SENTENCES.items()
}


def question_edited(wording: str) -> Doubt:
    """Return the doubt that an edit casts on a draft: one for each wording, so that a second edit is asked about, too.

    >>> question_edited("six?") == question_edited("six?"), question_edited("six?") == question_edited("five?")
    (True, False)
    """
    digest = hashlib.sha256(wording.encode("utf-8", "replace")).hexdigest()[:WORDING_CHARS]
    return Doubt(code=DoubtCode.EDITED, about=digest)


def alert_changed(state: AlertState, at: datetime) -> Doubt:
    """Return the doubt that the new state of a thread's alert casts on a draft.

    >>> alert_changed(AlertState.RESOLVED, datetime(2026, 11, 20, 14, 20, tzinfo=UTC)).text
    'the alert was resolved (2026-11-20 14:20 UTC)'
    """
    return Doubt(code=DoubtCode.ALERT, about=f"{_BECAME[state]} ({at.astimezone(UTC):%Y-%m-%d %H:%M} UTC)")


def wrote_in_thread(user_id: str, at: datetime) -> Doubt:
    """Return the doubt a newer message casts on a draft; the time tells two messages of one person apart."""
    return Doubt(code=DoubtCode.WROTE, by=user_id, about=f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}")

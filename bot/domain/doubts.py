"""What casts doubt on a draft that waits: a code, and who or what it is about; the sentence is made of them. Pure."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from bot.domain.alerts import AlertState
from bot.domain.frozen_value import FrozenValue

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

"""Twins: what makes two questions the same, and the steps by which one thread belongs to another. Pure.

Two are the same where they share a key: an alert's fingerprint, the innermost frames of a stack trace, or their text.
No likeness of words: what is the same in other words, a human says (docs/decisions/twins.md).
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from bot.domain.alerts import Severity
from bot.domain.paging import Paging
from bot.domain.search.stack_frames import frames_in, readable_text
from bot.domain.text.linear_patterns import LinearPattern
from bot.domain.threads import PostIntent, ThreadState, Twin, hash_draft

LEAST_WORDS: Final = 3  # fewer ask for what only their surroundings say: "any idea?"
LEAST_LETTERS: Final = 6  # of scripts without capitals, most of which write no blanks
FRAMES: Final = 3
TWIN_CHARS: Final = 300

_MARKUP: Final = re.compile(r"<[@!][^>\n]{1,80}>|(?<!\w):[a-z][a-z0-9_+-]{1,40}:(?!\w)|[`\ufe0f\U0001f3fb-\U0001f3ff]")
_WIDE_MARKS: Final = str.maketrans(dict.fromkeys("。、，；：！？（）「」『』【】《》", " ") | {"’": "'"})
_NAME: Final = re.compile(r"\w[_./:]\w")
_ERROR: Final = LinearPattern(r"(?m)(?P<name>[A-Z]\w{0,80}(?:Error|Exception|Panic|Fault))(?:[:)]|\s*$)")

_OF_DRAFT: Final = (
    *("approved_by", "user_approved_at", "draft_pending", "draft_hash", "draft_edited_by"),
    *("pending_reason", "investigator", "is_escalated"),
    *("investigator_task_id", "investigator_round", "investigator_return", "validator_task_id", "validator_return"),
)


@lru_cache(maxsize=1_024)
def question_keys(question: str, fingerprint: str = "", images: tuple[str, ...] = ()) -> frozenset[str]:
    """Return what a question has in common with every one that is the same; nothing where its words tell too little.

    Beside images the text says only half of what is asked, so it counts for nothing.

    >>> question_keys("Where are sessions signed?") == question_keys("where are  sessions signed :pray:")
    True
    >>> question_keys("any idea?")
    frozenset()
    """
    found = {"alert": fingerprint}
    if not fingerprint:
        found = {"frames": _innermost_frames(question), "text": "" if images else _plain_text(question)}
    return frozenset(f"{kind}:{hash_draft(said)}" for kind, said in found.items() if said)


def keys_of(state: ThreadState) -> frozenset[str]:
    """Return the keys of a thread's question."""
    return question_keys(state.question, state.alert.fingerprint if state.alert else "", state.images)


def _plain_text(text: str) -> str:
    """Return the words of a text without case, emoji, mentions of people and the punctuation around words."""
    plain = unicodedata.normalize("NFKC", _MARKUP.sub(" ", readable_text(text)).translate(_WIDE_MARKS))
    shown = "".join(sign for sign in plain if unicodedata.category(sign) not in ("So", "Cf"))
    words = [word for one in shown.casefold().split() if (word := one.lstrip("([{\"'«“„¿¡").rstrip(".,;:!?)]}\"'»”"))]
    said = " ".join(words)
    letters = sum(unicodedata.category(sign) == "Lo" for sign in said)
    return said if len(words) >= LEAST_WORDS or letters >= LEAST_LETTERS or _NAME.search(said) else ""


def _innermost_frames(text: str) -> str:
    """Return the errors of a trace and the innermost frames of the program's own code; "" where there is no trace."""
    inner = [frame for frame in frames_in(text) if not frame.is_of_library][:FRAMES]
    if len(inner) < 2 or not any(frame.function for frame in inner):  # one is a place that somebody names
        return ""
    errors = sorted({groups["name"] for _, _, groups in _ERROR.matches(text)})
    places = (f"{'/'.join(frame.tail.split('/')[-2:])}:{frame.line}:{frame.function}" for frame in inner)
    return " ".join([*errors, *places])


def may_lead(first: ThreadState, twin: ThreadState) -> bool:
    """Whether a thread may be investigated for another one: one of its own, whose reply is not being posted without it.

    An approval that names the twin holds it, also one that a crash cut off: the reply is posted there, too.
    """
    is_other = first.team_id == twin.team_id and first.thread_id != twin.thread_id and first.twin_of is None
    return is_other and first.is_open and (first.post_intent is None or twin.thread_id in first.post_intent.twins)


def is_apart(first: ThreadState, thread_id: str) -> bool | None:
    """Return what a thread's list says last of a twin; None where it does not name it."""
    return next((twin.is_apart for twin in reversed(first.twins) if twin.thread_id == thread_id), None)


def with_twin(
    first: ThreadState, twin: ThreadState, *, by: str | None, at: datetime, wait: timedelta | None
) -> ThreadState | None:
    """Return a thread with a twin in its list, and a page if the twin is one; None where it may not lead.

    What somebody took out comes back only `by` hand. A page that was acknowledged longer than
    `wait` ago rings again; None: never.
    """
    was_apart = is_apart(first, twin.thread_id)
    if not may_lead(first, twin) or (was_apart and by is None):
        return None
    if was_apart is False:
        return first
    if twin.severity is Severity.PAGE:
        was_page = first.severity is Severity.PAGE
        paging = first.paging.raised_again(at, wait) if was_page else Paging(since=at)
        first = first.evolve(severity=Severity.PAGE, paging=paging)
    entry = Twin(
        thread_id=twin.thread_id,
        chat_id=twin.chat_id,
        message_id=twin.original_message_id,
        asker=twin.original_sender_id,
        asked_at=twin.last_event_at,
        permalink=twin.permalink,
        joined_by=by,
        question=twin.question[:TWIN_CHARS] if by else "",
    )
    return first.evolve(twins=(*first.twins, entry))


def without_twin(first: ThreadState, thread_id: str) -> ThreadState:
    """Return a thread that shows a twin no more; the list keeps its place."""
    apart = {"is_apart": True}
    twins = tuple(one.model_copy(update=apart) if one.thread_id == thread_id else one for one in first.twins)
    return first.evolve(twins=twins) if twins != first.twins else first


def with_draft_of(first: ThreadState, twin: ThreadState, at: datetime) -> ThreadState | None:
    """Return a twin with the approved draft of its first thread and the intent to post it; None if it is none by now.

    What the investigation cost is counted once, for the first thread.
    """
    if not twin.is_open or twin.twin_of != first.thread_id or twin.post_intent or first.draft_hash is None:
        return None
    intent = PostIntent(at=at, draft_hash=first.draft_hash, doubts=len(twin.doubts), is_unsent=True)
    shared = {name: getattr(first, name) for name in (*_OF_DRAFT, "draft_version")}
    return twin.evolve(post_intent=intent, **shared)


def as_own(twin: ThreadState) -> ThreadState:
    """Return a twin as a thread of its own, without the first thread's draft."""
    empty = {name: ThreadState.model_fields[name].get_default() for name in (*_OF_DRAFT, "twin_of", "post_intent")}
    return twin.model_copy(update=empty)

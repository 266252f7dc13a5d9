"""A question that begins with a button or a command: asked in the ops channel, then worked like any other.

The message is posted first, so that the thread it is answered in exists; what a crash leaves behind is a message
without a card, which the asker sees.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from blocks.text import escape
from bot.domain.events import Event, Sender
from bot.domain.jobs import JobKind
from bot.domain.threads import thread_key
from bot.ports import JobQueue
from handlers.pacing import CARD
from handlers.posting import Poster

Ask = Callable[[str, str], str]
"""Takes `(question, who asks)`, opens a thread for it in the ops channel, and returns what to tell the asker."""


def ops_questions(poster: Poster, jobs: JobQueue, *, team_id: str, ops_channel: str) -> Ask:
    """Return a way to ask in the ops channel; it raises ProviderError where Slack refuses the message."""

    def ask(question: str, by: str) -> str:
        answer = poster.post(ops_channel, escape(question), what="ask in the ops channel", rank=CARD)
        event = _event(team_id, ops_channel, by, str(answer["ts"]), _as_posted(answer.get("message"), question))
        jobs.put(JobKind.USER, thread_key(event), {"event": event.model_dump(mode="json")})
        return f"Asked in <#{ops_channel}>; its card will show the draft."

    return ask


def _as_posted(message: object, question: str) -> str:
    """Return the words as Slack keeps them, so that the question does not look edited later."""
    text = message.get("text") if isinstance(message, dict) else None
    return text if isinstance(text, str) and text else escape(question)


def _event(team_id: str, channel: str, by: str, ts: str, text: str) -> Event:
    return Event(
        team_id=team_id,
        chat_id=channel,
        message_id=ts,
        create_time=datetime.fromtimestamp(float(ts), UTC),
        content=text,
        sender=Sender(id=by),
    )

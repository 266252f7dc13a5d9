"""Conversations of public Slacks that nobody labelled, as examples of who wants an answer.

Read from github.com/preethac/Software-related-Slack-Chats-with-Disentangled-Conversations, folder data: XML files whose
messages carry the number of their conversation. Whoever opens a conversation mostly asks until somebody else replies,
and others mostly answer; what the opener says later is either and is left out, and so are conversations of one person.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from training.examples import Message


def read_conversations(folder: Path) -> list[Message]:
    """Return the messages of all files below a folder, the same order on every run."""
    return [message for path in sorted(folder.rglob("*.xml")) for message in _messages(path)]


def _messages(path: Path) -> Iterator[Message]:
    conversations: dict[str, list[tuple[str, str]]] = {}
    for each in ElementTree.parse(path).iter("message"):
        said = each.findtext("user", ""), each.findtext("text", "")
        conversations.setdefault(each.get("conversation_id", ""), []).append(said)
    for conversation in conversations.values():
        yield from _labelled(conversation)


def _labelled(conversation: list[tuple[str, str]]) -> Iterator[Message]:
    opener = conversation[0][0]
    if all(user == opener for user, _ in conversation):
        return
    has_reply = False
    for user, text in conversation:
        has_reply = has_reply or user != opener
        if text.strip() and not (has_reply and user == opener):
            yield Message(text, not has_reply)

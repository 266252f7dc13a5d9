"""Conversations of public Slacks that nobody labelled, as examples of who wants an answer.

Read from github.com/preethac/Software-related-Slack-Chats-with-Disentangled-Conversations, commit COMMIT: XML files
whose messages carry the number of their conversation. Whoever opens a conversation mostly asks until somebody replies,
and asks now and then after that; others mostly answer. A conversation of one person says nothing and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

COMMIT: Final = "880441597fe2109a87b4db928d2f3e026e06e246"
FILES: Final = {
    "clojurians": ("clojurians/2019/merged-clojurians-clojure.xml",),
    "elmlang": ("elmlang/2019/merged-elmlang-general.xml",),
    "racket": tuple(f"racket/{year}/merged-racket-general.xml" for year in (2017, 2018, 2019)),
}
"""The files that are read, by workspace; paths below the repository's folder `data`."""

_ASKING_LATER: Final = 0.3  # of what an opener says after the first reply, as in the labelled dialogues


class Unlabelled(NamedTuple):
    """A message, the workspace it was written in, and the share of such messages that want an answer."""

    text: str
    workspace: str
    asking: float


def read_conversations(folder: Path) -> list[Unlabelled]:
    """Return the messages of FILES below a folder, in the same order on every run."""
    return [
        Unlabelled(text, workspace, asking)
        for workspace, names in FILES.items()
        for name in names
        for text, asking in _messages(folder / name)
    ]


def _messages(path: Path) -> Iterator[tuple[str, float]]:
    conversations: dict[str, list[tuple[str, str]]] = {}
    for each in ElementTree.parse(path).iter("message"):
        said = each.findtext("user", ""), each.findtext("text", "")
        conversations.setdefault(each.get("conversation_id", ""), []).append(said)
    for conversation in conversations.values():
        yield from _asking(conversation)


def _asking(conversation: Sequence[tuple[str, str]]) -> Iterator[tuple[str, float]]:
    opener = conversation[0][0]
    if all(user == opener for user, _ in conversation):
        return
    has_reply = False
    for user, text in conversation:
        has_reply = has_reply or user != opener
        if text.strip():
            yield text, (_ASKING_LATER if has_reply else 1.0) if user == opener else 0.0

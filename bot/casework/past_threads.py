"""Past conversations as the ordinary rules hear them, and the codebase as it was at that time.

Each message has its class, each question its thread. A thread counts as in flight from its first actionable message
on, because a stream does not say when work ended. The codebase is a bare copy without objects of its own, whose HEAD
moves along the history: everything that reads HEAD (search, history, citations) then sees that time and nothing later.
The index moves along and reads only the files that changed, so the questions should come in the order of their times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Items
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final, NamedTuple

from bot.agent.git.git_process import GitProcess
from bot.agent.git.git_repo import GitRepo
from bot.domain.events import Event, MessageType, thread_key
from bot.domain.mention_instructions import InstructionKind, read_instruction
from bot.domain.returns import EvidenceKind, EvidenceRef, evidence_in
from bot.domain.threads import Resolution
from bot.intake.classifier.classification import Rules, asks_question, classify, explain
from bot.ports import Store
from bot.ports.collections import REPLIES, THREADS
from bot.ports.collections import Collection as Documents

COMPARED_CHARS: Final = 4_000
_CHANGES: Final = (MessageType.EDIT, MessageType.DELETE)
_DECIDED: Final = (Resolution.APPROVED, Resolution.EDITED, Resolution.AUTO, Resolution.DISMISSED)


class HeardMessage(NamedTuple):
    """A message, its class, the row of the rules' table that decided, and the question with which it opens a thread.

    `question` is None where it opens none; where it mentions the bot and asks nothing, the thread's question stands
    there in its place, at its time.
    """

    event: Event
    classification: str
    rule: str
    question: Event | None = None

    @property
    def is_question(self) -> bool:
        """Whether it opens a thread of work."""
        return self.question is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class PastQuestion:
    """A question and the rest of its thread: what stood before it, and what people wrote after it."""

    thread_id: str
    event: Event
    earlier: tuple[Event, ...] = ()
    answers: tuple[Event, ...] = ()


class OwnRecord(NamedTuple):
    """What people made of the bot's own draft; `changed` is the share of its text that they edited away or added."""

    resolution: str
    changed: float = 0.0
    reason: str = ""
    refs: tuple[EvidenceRef, ...] = ()


def hear(events: Iterable[Event], rules: Rules) -> list[HeardMessage]:
    """Return what the rules make of past messages; edits, deletions and bots without an alert are left out."""
    heard, under_way, above, threads = [], set[str](), dict[str, Event](), dict[str, list[Event]]()
    for event in events:
        if event.msg_type in _CHANGES or (event.sender.type == "bot" and event.alert is None):
            continue
        key = thread_key(event)
        is_inflight = key in under_way
        found = classify(event, rules, inflight=is_inflight).classification
        rule = explain(event, rules, inflight=is_inflight).rule
        question = event if found == "actionable" and not is_inflight else None
        if question and rules.bot_id in event.mentions:
            about = key if event.thread_id or event.chat_id not in above else thread_key(above[event.chat_id])
            question = _asked(event, threads.get(about, ()), rules) if about not in under_way else None
            under_way.update([about] if question else ())
        under_way.update([key] if question else ())
        above[event.chat_id] = event
        threads.setdefault(key, []).append(event)
        heard.append(HeardMessage(event, found, rule, question))
    return heard


def _asked(mention: Event, said: Sequence[Event], rules: Rules) -> Event | None:
    """Return what a mention asks: its own words, or where it has none the question of what was `said` before it.

    That is the first message of the thread, or if that asks nothing the last one that does.
    """
    kind = read_instruction(mention.content, rules.bot_id or "").kind
    if kind is InstructionKind.QUESTION:
        return mention
    if kind not in (InstructionKind.BARE, InstructionKind.LOOK) or not said:
        return None
    asking = [one for one in said if asks_question(one.content, rules) and rules.bot_id not in one.mentions]
    pointed_to = said[0] if said[0] in asking or not asking else asking[-1]
    root = said[0].thread_id or said[0].message_id
    return mention.model_copy(update={"content": pointed_to.content, "mentions": (), "thread_id": root})


def likely_bot_id(records: Iterable[Mapping[str, Any]]) -> str | None:
    """Return who was mentioned most in messages recorded as mentions of the bot; None where there is no such record."""
    named = Counter(
        user for one in records if one.get("is_bot_mention") is True for user in one.get("mentions") or () if user
    )
    return named.most_common(1)[0][0] if named else None


def questions_in(heard: Iterable[HeardMessage], *, since: datetime | None = None) -> list[PastQuestion]:
    """Return the messages that would have opened a thread of work, oldest first."""
    threads: dict[str, list[HeardMessage]] = {}
    for one in heard:
        threads.setdefault(thread_key(one.question or one.event), []).append(one)
    found = [
        PastQuestion(
            thread_id=key,
            event=question,
            earlier=tuple(one.event for one in said[:at] if one.event.content != question.content),
            answers=tuple(one.event for one in said[at + 1 :] if one.event.sender.type == "user"),
        )
        for key, said in threads.items()
        for at, opening in enumerate(said)
        if (question := opening.question) and (since is None or question.create_time >= since)
    ]
    return sorted(found, key=lambda one: one.event.create_time)


def own_history(store: Store, thread_ids: Items[str]) -> dict[str, OwnRecord]:
    """Return what people decided on the bot's own drafts, by thread; the latest of each thread.

    Raises:
        StoreError: the data directory cannot be read.
    """
    threads = Documents(store.documents, THREADS)
    asked = (one for one in reversed(store.documents.archived(THREADS.name)) if one.doc_id in thread_ids)
    filed = map(threads.parse_archived, asked)
    replies = {str(one.get("thread_id")): one for one in store.journal(REPLIES).records()}
    found = {}
    for state in (*filed, *threads.parsed().values()):
        if state is not None and state.thread_id in thread_ids and state.resolution in _DECIDED:
            reply = replies.get(state.thread_id, {}) if state.resolution != Resolution.DISMISSED else {}
            refs = tuple(one for one in evidence_in(reply) if one.kind in (EvidenceKind.FILE, EvidenceKind.GIT_COMMIT))
            changed = _changed_share(reply)
            found[state.thread_id] = OwnRecord(state.resolution, changed, state.dismiss_reason or "", refs)
    return found


def _changed_share(reply: Mapping[str, Any]) -> float:
    """Return how much of a draft a human changed, 0 to 1."""
    draft, posted = reply.get("draft_text"), reply.get("reply_text")
    if not isinstance(draft, str) or not isinstance(posted, str):
        return 0.0
    words = draft[:COMPARED_CHARS].split(), posted[:COMPARED_CHARS].split()
    return round(1 - SequenceMatcher(None, *words, autojunk=False).ratio(), 3)


class PastCode:
    """The copy of `source` in `folder`, which is made; raises ProviderError where git fails."""

    def __init__(self, source: GitRepo, folder: Path) -> None:
        self.head = source.head()
        folder.mkdir(parents=True)
        git = GitProcess(folder).with_variables({"GIT_DEFAULT_REF_FORMAT": "files"})  # so that HEAD is a file
        form = source.process.run("rev-parse", "--show-object-format").decode().strip()
        git.run("init", "--quiet", "--bare", f"--object-format={form}")
        shared = source.folder.shared
        (folder / "objects" / "info" / "alternates").write_text(f"{shared / 'objects'}\n", "utf-8")
        if source.is_shallow():
            (folder / "shallow").write_bytes((shared / "shallow").read_bytes())
        self.repo = GitRepo(folder)
        self.move_to(self.head)
        listed = self.repo.process.run("rev-list", "--first-parent", "--timestamp", self.head).split()
        self._timeline = [(int(at), sha.decode()) for at, sha in zip(listed[::2], listed[1::2], strict=True)]

    def commit_before(self, at: datetime) -> str | None:
        """Return the last commit of the default branch before a moment; None where it has none that old."""
        return next((sha for made_s, sha in self._timeline if made_s <= at.timestamp()), None)

    def move_to(self, commit: str) -> None:
        """Make a commit HEAD; this process alone does, so the file is written without git."""
        (self.repo.root / "HEAD").write_text(f"{commit}\n", "utf-8")

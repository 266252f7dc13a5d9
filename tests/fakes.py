"""Fakes of the ports, kept to the same contracts as the adapters (tests/contracts runs both).

Nothing here sleeps or touches the disk. `Faults` lets a test kill the process, so to say, before or after any effect:
`Crash` is no Exception, so that no handler of ours can mistake it for a failure it may deal with.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.storage.files.ndjson_journal import JournalLines
from bot.adapters.storage.files.spool_queue import QueuedJobs, decode_job, encode_job
from bot.agent.ledger import Ledger
from bot.agent.model_run import OnProgress
from bot.casework.investigate.assignment import Assignment, Investigation
from bot.domain.acknowledgement import Reaction
from bot.domain.jobs import Job, queue_order
from bot.domain.notes import NoteCitation, StaleCitations
from bot.domain.questions.autonomy_record import AutoReply
from bot.domain.returns import InvestigatorReturn, Usage
from bot.domain.search.passages import MemoryHit
from bot.domain.threads import ThreadState, hash_draft, reply_mark
from bot.errors import Conflict, ProviderError, StoreError
from bot.ports import (
    ArchivedDocument,
    Channel,
    ChatMessage,
    Clock,
    DamagedDocument,
    Document,
    Image,
    PageRing,
    Person,
)
from bot.ports.collections import Collection, CollectionSpec, Model, SingleDocument
from bot.ports.storage import DAMAGED
from bot.ports.threads import Threads

MAX_ATTEMPTS = 3


class Crash(BaseException):
    """The process dies here."""


class Faults:
    """Counts the effects of the fakes, one point before and one after each, and crashes at the `crash_at`-th."""

    def __init__(self, crash_at: int | None = None) -> None:
        self.crash_at = crash_at
        self.points: list[str] = []

    def point(self, name: str) -> None:
        """Die here if it is time."""
        self.points.append(name)
        if len(self.points) == self.crash_at:
            raise Crash(name)


class FakeMonotonic:
    """A monotonic clock that moves when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeClock:
    """Port Clock that moves only when told to."""

    def __init__(self, at: datetime = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


class MemoryJournal(JournalLines):
    """Port Journal over a list of lines; `full` makes the disk refuse."""

    def __init__(self, lines: list[str] | None = None, faults: Faults | None = None, name: str = "journal") -> None:
        self.lines = [] if lines is None else lines
        self.full = False
        self._faults = faults or Faults()
        self._name = name

    def append(self, record: Mapping[str, Any]) -> None:
        if self.full:
            raise StoreError("cannot write the journal: No space left on device")
        self._faults.point(f"{self._name}: before a line")
        self.lines.append(json.dumps(dict(record), ensure_ascii=False, default=str))
        self._faults.point(f"{self._name}: after a line")

    def _written(self, text: str) -> bytes:
        return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")

    def _forwards(self, _: bytes) -> Iterator[bytes]:
        return (line.encode("utf-8", "surrogatepass") for line in list(self.lines))

    def _backwards(self) -> Iterator[bytes]:
        return (line.encode("utf-8", "surrogatepass") for line in list(self.lines)[::-1])


class MemoryDocuments:
    """Port Documents over JSON texts, so that nothing it hands out is shared; `full` makes the disk refuse.

    `texts` has the version and the text of each document, by collection and id; with `closed` it survives a restart.
    `meanwhile` is called once before the next write: what somebody else does between a look and a write.
    """

    def __init__(
        self, texts: dict[tuple[str, str], tuple[int, str]] | None = None, faults: Faults | None = None
    ) -> None:
        self.texts = {} if texts is None else texts
        self.closed: dict[tuple[str, str], list[tuple[datetime, int, str]]] = {}
        self.aside: dict[str, tuple[str, str]] = {}
        self.full = False
        self.unreadable: set[str] = set()
        """The ids of documents, and the collections, that the disk does not hand out."""
        self.archive_full = False
        self.meanwhile: Callable[[], object] | None = None
        self._faults = faults or Faults()
        self._lock = threading.RLock()

    def get(self, collection: str, doc_id: str) -> Document | None:
        if doc_id in self.unreadable:
            raise StoreError(f"cannot read {collection}/{doc_id}: Permission denied; fix its owner")
        with self._lock:
            return self._read(collection, doc_id) if (collection, doc_id) in self.texts else None

    def list(self, collection: str) -> Sequence[Document]:
        if collection in self.unreadable:
            raise StoreError(f"cannot read {collection}: Permission denied; fix its owner")
        with self._lock:
            return [self._read(collection, doc_id) for name, doc_id in sorted(self.texts) if name == collection]

    def find(self, collection: str, field: str, value: str) -> Sequence[Document]:
        return [one for one in self.list(collection) if (one.value or {}).get(field) == value]

    def put(self, collection: str, doc_id: str, value: Mapping[str, Any], *, version: int) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        with self._lock:
            self._compare(collection, doc_id, version)
            what = value.get("status", "a write")
            self._faults.point(f"{collection}: before {what}")
            self.texts[collection, doc_id] = version + 1, json.dumps(dict(value))
            self._faults.point(f"{collection}: after {what}")

    def remove(self, collection: str, doc_id: str, *, version: int) -> None:
        with self._lock:
            self._compare(collection, doc_id, version)
            self.texts.pop((collection, doc_id), None)

    def place(self, collection: str, doc_id: str) -> str:
        return f"{collection}/{doc_id}"

    def set_aside(self, collection: str, doc_id: str) -> str:
        with self._lock:
            where = f"{collection}/{doc_id}.corrupt"
            self.aside[where] = collection, self.texts.pop((collection, doc_id))[1]
            return where

    def damaged(self, collection: str) -> Sequence[DamagedDocument]:
        at = datetime.fromtimestamp(0, UTC)
        return [
            DamagedDocument(doc_id=where.rpartition("/")[2].removesuffix(".corrupt"), name=where, at=at, is_new=True)
            for where, (name, _) in self.aside.items()
            if name == collection
        ]

    def archive(self, collection: str, doc_id: str, *, at: datetime) -> None:
        with self._lock:
            if (collection, doc_id) not in self.texts:
                return
            if self.archive_full:
                raise StoreError("cannot archive the document: No space left on device")
            self._faults.point(f"{collection}: before the archive")
            version, text = self.texts.pop((collection, doc_id))
            self.closed.setdefault((collection, doc_id), []).append((at, version, text))
            self._faults.point(f"{collection}: after the archive")

    def archived(
        self, collection: str, doc_id: str | None = None, *, since: datetime | None = None
    ) -> Sequence[ArchivedDocument]:
        with self._lock:
            found = [
                ArchivedDocument(doc_id=one, at=ending[0], name=str(number))
                for (name, one), endings in self.closed.items()
                if name == collection and doc_id in (None, one)
                for number, ending in enumerate(endings)
                if since is None or ending[0] >= since
            ]
        return sorted(found, key=lambda one: (one.at, int(one.name)), reverse=True)

    def read_archived(self, collection: str, archived: ArchivedDocument) -> Document | None:
        at, version, text = self.closed[collection, archived.doc_id][int(archived.name)]
        return Document(id=archived.doc_id, version=version, value=json.loads(text), written_at=at)

    def _compare(self, collection: str, doc_id: str, version: int) -> None:
        stored = self.get(collection, doc_id)
        if (stored.version if stored else 0) != version:
            raise Conflict(f"{doc_id} was changed meanwhile; look again")
        if self.full:
            raise StoreError("cannot write: No space left on device")

    def _read(self, collection: str, doc_id: str) -> Document:
        version, text = self.texts[collection, doc_id]
        try:
            value = json.loads(text)
        except ValueError:
            value, version = None, DAMAGED
        return Document(id=doc_id, version=version, value=value, written_at=datetime.now(UTC))


def in_memory(spec: CollectionSpec[Model], documents: MemoryDocuments | None = None) -> Collection[Model]:
    """Return a collection over documents in memory."""
    return Collection(documents or MemoryDocuments(), spec)


class MemoryStore:
    """Port Store in memory; what was handed in survives a restart, and `full` makes the disk refuse."""

    def __init__(
        self,
        texts: dict[tuple[str, str], tuple[int, str]] | None = None,
        lines: dict[str, list[str]] | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.documents = self.machine = MemoryDocuments(texts, faults)
        self.lines = {} if lines is None else lines
        self._faults = faults

    def journal(self, name: str) -> MemoryJournal:
        journal = MemoryJournal(self.lines.setdefault(name, []), self._faults, name)
        journal.full = self.documents.full
        return journal


class MemoryThreads(Threads):
    """Threads over documents in memory."""

    def __init__(self, memory: MemoryDocuments | None = None, faults: Faults | None = None) -> None:
        self.memory = memory or MemoryDocuments(faults=faults)
        super().__init__(self.memory)


class MemoryJobQueue(QueuedJobs):
    """Port JobQueue in memory; `reopened()` is what a process that starts after a crash would find."""

    def __init__(self, clock: Clock, *, faults: Faults | None = None) -> None:
        super().__init__(clock, None)
        self._faults = faults or Faults()
        self._sequence = 0
        self._last_ms = 0
        self.waiting: dict[str, Job] = {}
        self.running = self._running
        self.given_up: dict[str, Job] = {}
        self.full = False

    def restore(self, job: Job) -> Job:
        with self._changed:
            if self.full:
                raise StoreError("cannot write the job: No space left on device")
            self._faults.point("queue: before a job")
            self._sequence += 1
            self._last_ms = max(self._last_ms + 1, job.epoch_ms)
            job_id = job.work.job_id or f"{self._sequence:06d}"
            named = job.model_copy(update={"epoch_ms": self._last_ms, "job_id": job_id})
            self._keep(named)
            self._faults.point("queue: after a job")
            return named

    def _keep(self, job: Job) -> None:
        (self.given_up if job.has_failed else self.waiting)[job.name] = job

    def holds(self, key: str) -> bool:
        with self._changed:
            return any(job.key == key for jobs in (self.waiting, self.running) for job in jobs.values())

    def failed(self) -> list[Job]:
        return list(self.given_up.values())

    def rewrite(self, convert: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> int:
        changed = 0
        for jobs in (self.waiting, self.given_up):
            for name, job in jobs.items():
                jobs[name] = decode_job(convert(encode_job(job)))
                changed += jobs[name] != job
        return changed

    def lost_since_ms(self) -> int | None:
        return None

    def close(self) -> None:
        """Nothing is open."""

    def reopened(self) -> MemoryJobQueue:
        again = MemoryJobQueue(self._clock, faults=self._faults)
        again._sequence, again._last_ms = self._sequence, self._last_ms
        again.waiting, again.given_up = dict(self.waiting), dict(self.given_up)
        for job in self.running.values():
            died = job.died(alone=len(self.running) == 1)
            again._keep(died)
            if died.has_failed:
                again._given_up.append(died)
        return again

    def _look(self) -> tuple[list[Job], tuple[()]]:
        return sorted(self.waiting.values(), key=lambda job: queue_order(job.name)), ()

    def _start(self, job: Job, claimed: Job) -> bool:
        del self.waiting[job.name]
        return True

    def _end(self, job: Job, outcome: Job | None) -> None:
        if outcome is not None:
            self._keep(outcome)


class MemoryDecisionLog:
    """Port DecisionLog over a list of lines."""

    def __init__(self, lines: list[str] | None = None, faults: Faults | None = None) -> None:
        self.lines = [] if lines is None else lines
        self._faults = faults or Faults()

    def note(self, mark: str, line: str) -> None:
        if not any(mark in other for other in self.lines):
            self._faults.point("decisions: before a line")
            self.lines.append(" ".join(line.split()))
            self._faults.point("decisions: after a line")

    def text(self) -> str:
        return "".join(f"- {line}\n" for line in self.lines)


@dataclass
class Card:
    """A card as it stands in the ops channel: its place and the states it has shown."""

    thread_id: str
    ts: str
    shown: list[ThreadState] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)


@dataclass
class Post:
    """A reply as it stands in a thread."""

    chat_id: str
    thread_ts: str
    ts: str
    text: str
    draft_version: int = 0


class RecordingMessenger:
    """Port Messenger that keeps what was said.

    `refuse` is raised instead of posting a reply, `refuse_in` in one chat only; `lose` is raised after posting it, or
    instead of (`lost_before_posting`) posting it; `meanwhile` is called once in the middle of a post. What is posted
    stands in the threads of `workspace` as well.
    """

    def __init__(
        self, ops_channel: str = "C0OPS", faults: Faults | None = None, workspace: FakeWorkspace | None = None
    ) -> None:
        self.ops_channel, self._workspace = ops_channel, workspace or FakeWorkspace()
        self.cards: list[Card] = []
        self.posts: list[Post] = []
        self.told: list[str] = []
        self.removed: list[tuple[str | None, str | None]] = []
        self.refuse: ProviderError | None = None
        self.refuse_in: dict[str, ProviderError] = {}
        self.lose: ProviderError | None = None
        self.lost_before_posting = False
        self.card_refused: ProviderError | None = None
        self.removal_refused: ProviderError | None = None
        self.refusals = 0
        self.line_refused: ProviderError | None = None
        self.meanwhile: Callable[[], object] | None = None
        self._faults = faults or Faults()
        self.count = 0

    def show_card(
        self, state: ThreadState, *, progress: str | None = None, after: str | None = None
    ) -> tuple[str, str]:
        self._faults.point("messenger: before the card")
        if self.card_refused is not None:
            self.refusals += 1
            raise self.card_refused
        if state.card_ts is None:
            card = self._found(state, after)
        else:
            card = next((card for card in self.cards if card.ts == state.card_ts), None)
        if card is None:
            card = Card(thread_id=state.thread_id, ts=self._next_ts())
            self.cards.append(card)
        card.shown.append(state)
        card.progress += [progress] if progress else []
        self._faults.point("messenger: after the card")
        return state.card_channel or self.ops_channel, card.ts

    def card_digest(self, state: ThreadState) -> str:
        return state.model_dump_json(exclude={"version"})

    def has_card(self, state: ThreadState) -> bool:
        return any(card.ts == state.card_ts for card in self.cards)

    def remove_card(self, state: ThreadState) -> None:
        if self.removal_refused is not None:
            raise self.removal_refused
        self.removed.append((state.card_channel, state.card_ts))

    def _found(self, state: ThreadState, after: str | None) -> Card | None:
        for card in reversed(self.cards):
            is_gone = card.ts == after or (self.ops_channel, card.ts) in self.removed
            if card.shown[0].original_message_id == state.original_message_id and not is_gone:
                return card
        return None

    def post_reply(self, state: ThreadState, text: str) -> str:
        self._faults.point("messenger: before the reply")
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        if (refuse := self.refuse_in.get(state.chat_id, self.refuse)) is not None:
            raise refuse
        if self.lose is not None and self.lost_before_posting:
            raise self.lose
        place = {"chat_id": state.chat_id, "thread_ts": state.thread_ts}
        post = Post(**place, ts=self._next_ts(), text=text, draft_version=state.draft_version)
        self.posts.append(post)
        mark = f"{reply_mark(state)}:{hash_draft(text)}"
        said = ChatMessage(message_id=post.ts, sender_id="U0BOT", text=text, is_bot=True, reply_mark=mark)
        self._workspace.say(post.chat_id, post.thread_ts, said)
        if self.lose is not None:
            raise self.lose
        self._faults.point("messenger: after the reply")
        return post.ts

    def delete_reply(self, state: ThreadState, ts: str) -> None:
        self.posts = [post for post in self.posts if post.ts != ts]
        self._workspace.delete(state.chat_id, state.thread_ts, ts)

    def tell_ops(self, text: str) -> None:
        if self.line_refused is not None:
            raise self.line_refused
        self.told.append(text)

    def _next_ts(self) -> str:
        self.count += 1
        return f"1800000000.{self.count:06d}"


class MemoryTerminal:
    """Port Terminal over a dictionary of what runs in each session; nothing in it ends by itself.

    `refuse` is raised instead of starting; while `silent` nobody can say what runs.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.alive: dict[str, tuple[str, ...]] = {}
        self.started: list[str] = []
        self.ended: list[str] = []
        self.refuse: ProviderError | None = None
        self.silent = False
        self.holds_others = False
        self._faults = faults or Faults()

    def start(self, session: str, argv: Sequence[str], *, log: Path, env: Mapping[str, str]) -> str | None:
        if self.refuse is not None:
            raise self.refuse
        if session not in self.alive:
            self._faults.point("terminal: before a session")
            self.alive[session] = tuple(argv)
            self.started.append(session)
            self._faults.point("terminal: after a session")
        return session

    def may_hold_others(self) -> bool:
        return self.holds_others

    def sessions(self) -> frozenset[str]:
        if self.silent:
            raise ProviderError("the terminal does not answer")
        return frozenset(self.alive)

    def end(self, session: str) -> None:
        if self.alive.pop(session, None) is not None:
            self.ended.append(session)


class RecordingPages:
    """Port PageChat over a list of `(to, what)`; what stands there already is not said twice, whoever asks again."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.said: list[tuple[str, str]] = []
        self.waited: list[timedelta] = []
        self.together: list[int] = []
        """How many pages each message rings for."""
        self.refuses: dict[str, ProviderError] = {}
        """By whom it would reach: why the chat refuses."""
        self.meanwhile: Callable[[], object] | None = None
        """Happens once, while something is on its way: a click, say."""
        self._faults = faults or Faults()

    def ring(self, rings: Sequence[PageRing]) -> None:
        self.together.append(len(rings))
        for state, number, waited in rings:
            again = " again" * state.paging.times_raised
            self._say("ops", f"ring {number} of {state.question}{again}", waited)

    def escalate(self, state: ThreadState, to: str, *, waited: timedelta) -> None:
        self._say(to, f"escalation of {state.question}", waited)

    def hand_over(self, state: ThreadState) -> None:
        assert state.handed is not None
        self._say(str(state.assignee), f"{state.question}, from {state.handed.by}", timedelta())

    def _say(self, to: str, what: str, waited: timedelta) -> None:
        if to in self.refuses:
            raise self.refuses[to]
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        self._faults.point("pages: before")
        if (to, what) not in self.said:
            self.said.append((to, what))
            self.waited.append(waited)
        self._faults.point("pages: after")


class RecordingAudits:
    """Port AuditChat over a dictionary: what each audit card shows, and which replies were withdrawn.

    `refuse` is raised instead.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.cards: dict[str, AutoReply] = {}
        self.withdrawn: list[str] = []
        self.refuse: ProviderError | None = None
        self._faults = faults or Faults()

    def show(self, reply: AutoReply) -> tuple[str, str]:
        self._point("audit card")
        self.cards[reply.id] = reply
        return "C0OPS", f"{len(self.cards)}.0"

    def withdraw(self, reply: AutoReply) -> None:
        self._point("withdrawal")
        assert reply.posted_message_id is not None
        if reply.posted_message_id not in self.withdrawn:
            self.withdrawn.append(reply.posted_message_id)

    def _point(self, name: str) -> None:
        if self.refuse is not None:
            raise self.refuse
        self._faults.point(name)


class RecordingAskerChat:
    """Port AskerChat: what stands on each message, by its id, and what askers were told.

    `refuse` is raised instead; `calls` has each change asked for.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.standing: dict[str, set[str]] = {}
        self.told: list[tuple[str, str]] = []
        self.calls: list[str] = []
        self.refuse: ProviderError | None = None
        self._faults = faults or Faults()

    def add_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        self._call(f"add {reaction}")
        self.standing.setdefault(message_id, set()).add(reaction.value)
        self._faults.point("asker: after a reaction")

    def remove_reaction(self, chat_id: str, message_id: str, reaction: Reaction) -> None:
        self._call(f"remove {reaction}")
        self.standing.setdefault(message_id, set()).discard(reaction.value)
        self._faults.point("asker: after a removal")

    def tell_asker(self, state: ThreadState, text: str) -> None:
        self._call("tell")
        self.told.append((state.original_sender_id, text))
        self._faults.point("asker: after a line")

    def _call(self, what: str) -> None:
        self._faults.point("asker: before a call")
        self.calls.append(what)
        if self.refuse is not None:
            raise self.refuse


class RecordingDirectChat:
    """Port DirectChat that remembers what was said, once for each thread and matter, and what was shown."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.told: dict[tuple[str, str, str], str] = {}
        self.working: list[bool] = []
        self._faults = faults or Faults()

    def tell(self, chat_id: str, thread_ts: str, text: str, *, about: str) -> None:
        self._faults.point("direct: before a line")
        self.told.setdefault((chat_id, thread_ts, about), text)
        self._faults.point("direct: after a line")

    def show_working(self, state: ThreadState, *, is_working: bool) -> None:
        self.working.append(is_working)


class FakeAttachments:
    """Port Attachments over dictionaries, by file id; what is not in them is refused."""

    def __init__(self) -> None:
        self.images: dict[str, Image] = {}
        self.texts: dict[str, str] = {}

    def image(self, file_id: str) -> Image:
        if file_id not in self.images:
            raise ProviderError("Slack could not read a file: file_not_found", code="file_not_found")
        return self.images[file_id]

    def text(self, file_id: str) -> str:
        if file_id not in self.texts:
            raise ProviderError("Slack could not read a file: file_not_found")
        return self.texts[file_id]


class FakeWorkspace:
    """Port Workspace over dictionaries; `down` makes every question fail as Slack does when it is away."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.threads: dict[tuple[str, str], list[ChatMessage]] = {}
        self.private: set[str] = {"C0OPS"}
        self.archived: set[str] = set()
        self.groups: dict[str, frozenset[str]] = {}
        self.mails: dict[str, str] = {}
        self.unreadable: set[str] = set()
        self.asked: list[str] = []
        self.asked_fresh: list[str] = []
        self.down = False

    def person(self, user_id: str, *, fresh: bool = False) -> Person:
        self._answer(user_id)
        self.asked_fresh += [user_id] * fresh
        if user_id.startswith("B"):
            raise ProviderError("Slack could not look up a user: user_not_found")
        return self.people.get(user_id) or Person(user_id=user_id, name=f"name of {user_id}", team_id="T1")

    def permalink(self, chat_id: str, message_id: str) -> str | None:
        return None if self.down else f"https://acme.slack.com/archives/{chat_id}/p{message_id.replace('.', '')}"

    def thread(self, chat_id: str, thread_ts: str) -> Sequence[ChatMessage]:
        self._answer(chat_id)
        if chat_id in self.unreadable:
            raise ProviderError("Slack could not read the thread: channel_not_found")
        return list(self.threads.get((chat_id, thread_ts), []))

    def thread_above(self, chat_id: str, message_id: str) -> str | None:
        self._answer(chat_id)
        roots = [ts for chat, ts in self.threads if chat == chat_id and float(ts) < float(message_id)]
        return max(roots, key=float, default=None)

    def user_groups(self) -> Sequence[tuple[str, str]]:
        return [(one, one.lower()) for one in self.groups if one.startswith("S")]

    def user_of(self, email: str) -> str | None:
        return self.mails.get(email)

    def channel(self, chat_id: str) -> Channel:
        self._answer(chat_id)
        return Channel(is_private=chat_id in self.private, is_archived=chat_id in self.archived)

    def members(self, place_id: str) -> frozenset[str]:
        self._answer(place_id)
        if place_id not in self.groups:
            raise ProviderError("Slack could not list who may approve: no_such_subteam")
        return self.groups[place_id]

    def say(self, chat_id: str, thread_ts: str, message: ChatMessage) -> None:
        """Put a message into a thread."""
        self.threads.setdefault((chat_id, thread_ts), []).append(message)

    def edit(self, chat_id: str, thread_ts: str, message_id: str, text: str) -> None:
        """Change the words of a message."""
        place = (chat_id, thread_ts)
        self.threads[place] = [
            replace(m, text=text, edited=True) if m.message_id == message_id else m for m in self.threads[place]
        ]

    def delete(self, chat_id: str, thread_ts: str, message_id: str) -> None:
        """Remove a message."""
        place = (chat_id, thread_ts)
        self.threads[place] = [m for m in self.threads[place] if m.message_id != message_id]

    def _answer(self, about: str) -> None:
        self.asked.append(about)
        if self.down:
            raise ProviderError("Slack could not be reached; trying again may help")


class ScriptedInvestigator:
    """Investigator that hands back a script, its last line again and again; errors in it are raised.

    `meanwhile` is called once in the middle of a run: what others do while it lasts.
    """

    def __init__(self, *script: InvestigatorReturn | BaseException, faults: Faults | None = None) -> None:
        self.script = list(script)
        self.usage = Usage()
        self.assignments: list[Assignment] = []
        self.meanwhile: Callable[[], None] | None = None
        self._faults = faults or Faults()

    def investigate(
        self, assignment: Assignment, *, run_id: str, on_progress: OnProgress | None = None
    ) -> Investigation:
        self._faults.point("investigator: before")
        self.assignments.append(assignment)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        step = self.script[min(len(self.assignments), len(self.script)) - 1]
        if isinstance(step, BaseException):
            raise step
        self._faults.point("investigator: after")
        return Investigation(ret=step, ledger=Ledger(), usage=self.usage, investigator="scripted")


def unchanged(cites: Sequence[NoteCitation]) -> StaleCitations:
    """Say that all lines that notes cite stand as they did."""
    return StaleCitations()


class FixedMemoryIndex:
    """Port MemoryIndex with the same hits for every question."""

    def __init__(self, *hits: MemoryHit) -> None:
        self.hits = list(hits)
        self.notes: dict[str, str] = {}
        self.full = False

    def search(self, question: str, *, limit: int = 3) -> list[MemoryHit]:
        return self.hits[:limit]

    def add(self, name: str, text: str) -> str:
        if self.full:
            raise StoreError("cannot save the note: No space left on device")
        free = (name if n == 1 else f"{name}-{n}" for n in range(1, 100))
        kept = next(name for name in free if self.notes.get(name, text) == text)
        self.notes[kept] = text
        return f"memory/{kept}.md"


class MemorySingle(SingleDocument):
    """A single document in memory; `full` makes the disk refuse."""

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        self._memory = MemoryDocuments()
        super().__init__(self._memory, "single")
        if document:
            self.update(document)

    @property
    def document(self) -> Mapping[str, Any]:
        return self.read()

    @property
    def full(self) -> bool:
        return self._memory.full

    @full.setter
    def full(self, value: bool) -> None:
        self._memory.full = value

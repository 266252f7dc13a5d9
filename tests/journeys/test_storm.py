"""A storm: thousands of messages while Slack refuses, connections break and events come twice. Nothing lost or twice.

A short one is played over each engine, and one of 2,000 messages. Both print their figures. What happens follows from
SEED, but for the order in which threads get their turn.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest

from blocks import ids
from bot.errors import ProviderError
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, OPS
from tests.hands import Control
from tests.journeys.fault_proxy import DROPPED, REFUSED, FaultProxy, Faults, fault_proxy
from tests.journeys.hasty import HASTE
from tests.journeys.office import App, Office, environment_of, load_settings, read_environment, write_config
from tests.journeys.shop import RETRIES, SESSIONS, TIMEOUTS
from tests.kept import Kept
from tests.postgres import cut_connections, new_database

SEED = 20_261_121
pytestmark = pytest.mark.full
PEOPLE = (ANA.user_id, BEN.user_id, CHLOE.user_id)
HANDS = 4
BURST = 50
SMALL_TALK = (
    "the build of {n} went through, shipping it", "lunch at {n} past twelve", "moved card {n} to the left column",
    "release notes for {n} are in the folder", "standup notes {n}: nothing blocked", "{n} new signups since monday",
)  # fmt: skip
ACKS = ("thanks", "ok", "👍", ":+1:", "got it", "lgtm", "done", "👍 👍")
MENTION = f"<@{DEMO.bot_id}> "


@dataclass
class Sent:
    """One message: where and when it was said (seconds since the epoch), and what became of it."""

    chat_id: str
    ts: str
    at: float
    taken_s: float
    is_question: bool
    user: str
    is_root: bool
    is_answered: bool = False
    edited: bool = False
    deleted: bool = False

    @property
    def place(self) -> tuple[str, str]:
        return self.chat_id, self.ts

    @property
    def thread_id(self) -> str:
        return f"{DEMO.team_id}.{self.chat_id}.{self.ts}"


@dataclass
class Storm:
    """What was done, and the bot it was done to."""

    office: StormyOffice
    proxy: FaultProxy
    url: str
    sent: list[Sent] = field(default_factory=list)
    approved: list[Sent] = field(default_factory=list)
    clicks: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def questions(self) -> list[Sent]:
        return [message for message in self.sent if message.is_question]

    def say(self, control: Control, number: int, chance: random.Random, *, question: bool) -> None:
        """Let somebody say something: a question, or one of the many things that are none."""
        chat, user = chance.choice((HELP.channel_id, ENG.channel_id)), chance.choice(PEOPLE)
        parent = None if question or chance.random() < 0.7 else self._place(chance, chat)
        asked = chance.choice((SESSIONS, RETRIES, TIMEOUTS)).replace("?", f" in case {number}?")
        text = chance.choice(("", "", MENTION)) + asked if question else _no_question(number, chance)
        at = time.time()
        ts = control.say(chat, user, text, parent.ts if parent else None)
        now = time.time()
        with self.lock:
            self.sent.append(Sent(chat, ts, at, now - at, question, user, parent is None))

    def change(self, control: Control, chance: random.Random) -> None:
        """Let somebody edit or delete something they said."""
        with self.lock:
            left = [m for m in self.sent if not m.edited and not m.deleted and m not in self.approved]
            message = chance.choice(left)
            edits = chance.random() < 0.6 or message.is_answered  # a deleted root hides its replies from who was away
            message.edited, message.deleted = edits, not edits
        if edits:
            text = f"{SESSIONS} I mean in {message.ts}" if message.is_question else f"{message.ts} is what i meant"
            control.edit(message.chat_id, message.ts, message.user, text)
        else:
            control.delete(message.chat_id, message.ts, message.user)

    def _place(self, chance: random.Random, chat: str) -> Sent | None:
        """Return what is replied to: mostly small talk, sometimes a question, whose draft is then in doubt."""
        with self.lock:
            roots = [m for m in self.sent if m.chat_id == chat and m.is_root and not m.deleted]
            if not roots:
                return None
            root = chance.choice(roots)
            root.is_answered = True
            return root

    def burst(
        self, numbers: range, hands: ThreadPoolExecutor, controls: list[Control], *, share: float, cut: bool
    ) -> None:
        """Let as many things happen as fast as they can, HANDS at a time; `cut`: the line breaks in the midst of it."""

        def do(number: int) -> None:
            chance, control = random.Random(f"{SEED}:{number}"), controls[number % HANDS]
            lot = chance.random()
            if cut and number == numbers[len(numbers) // 4]:
                self.proxy.cut_sockets()
                self.office.cut_database()
            if lot > 0.97 and numbers.start:
                self.change(control, chance)
            else:
                self.say(control, number, chance, question=number % round(1 / share) == 0)

        list(hands.map(do, numbers))

    def states(self) -> dict[str, dict[str, Any]]:
        """Return the open threads as they are kept."""
        return {one["thread_id"]: one for one in self.office.kept.documents("threads")}

    def approve(self, message: Sent) -> None:
        """Click Approve as a person does: again, where the answer was that Slack was away."""
        self.approved.append(message)
        deadline = time.monotonic() + 240
        while not self.replies(message):
            assert time.monotonic() < deadline, f"never posted: {message}"
            [card] = self.office.cards(message.ts, channel=message.chat_id)
            with suppress(AssertionError):  # the button of a draft that is just being posted
                self.office.click(card, ids.APPROVE)
                self.clicks += 1
            with suppress(ProviderError):
                self.office.control.wait_for(lambda: self.replies(message), "the record", timeout_s=4)

    def replies(self, message: Sent) -> list[dict[str, Any]]:
        return [r for r in self.office.kept.records("replies") if r["thread_id"] == message.thread_id]

    def waiting(self) -> list[Sent]:
        """Return the questions whose draft waits on a card; nobody approved, edited or deleted them."""
        states = self.states()
        ready = {key for key, state in states.items() if state["status"] == "pending-user" and state["card_ts"]}
        untouched = [m for m in self.questions if not m.edited and not m.deleted and m not in self.approved]
        return [m for m in untouched if m.thread_id in ready]


def _no_question(number: int, chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(ACKS)
    return chance.choice(SMALL_TALK).format(n=number)


class StormyOffice(Office):
    """The ordinary bot, which reaches Slack through the proxy only."""

    def __init__(
        self, slack: LocalSlack, control: Control, home: Path, codebase: Path, proxy: FaultProxy, url: str | None
    ) -> None:
        self.control, self.home, self.kept, self._url = control, home, Kept(home, url), url
        config = write_config(home, codebase, max_concurrent_sessions=4)
        environment = {**environment_of(slack, home), "SLACK_API_URL": proxy.url}
        if url is not None:
            environment["TRIAGE_DATABASE_URL"] = url
        self.bot = App(load_settings(config), read_environment(environment), time_scale=HASTE)

    def cut_database(self) -> None:
        """End every connection to the database, if there is one."""
        if self._url is not None:
            cut_connections(self._url)


@pytest.fixture(params=["files", "postgres"])
def storm(
    slack: LocalSlack, control: Control, tmp_path: Path, shop: Path, request: pytest.FixtureRequest
) -> Iterator[Storm]:
    """The bot at work over each engine behind the proxy, which is still kind."""
    url = new_database() if request.param == "postgres" else None
    with fault_proxy(slack.api_url) as proxy:
        office = StormyOffice(slack, control, tmp_path / "home", shop, proxy, url)
        office.bot.start()
        control.wait_for(control.modals.is_bot_connected, "the bot to connect")
        yield Storm(office, proxy, slack.url)
        proxy.faults = None
        office.bot.stop()
        office.kept.close()


@pytest.mark.timeout(600)
def test_a_storm_loses_nothing_and_does_nothing_twice(storm: Storm, capsys: pytest.CaptureFixture[str]) -> None:
    """Two hundred messages, a twelfth of the calls refused, sockets cut."""
    _play(storm, messages=200, share=0.04, approvals=5, cuts=range(1, 4, 2))
    with capsys.disabled():
        print(f"\n{_figures(storm)}")


@pytest.mark.timeout(1_200)
def test_two_thousand_messages_lose_nothing_and_do_nothing_twice(
    storm: Storm, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same at length, and the memory of the process stays where it was."""
    _play(storm, messages=2_000, share=0.04, approvals=40, cuts=range(2, 38, 4))
    with capsys.disabled():
        print(f"\n{_figures(storm)}")


def _play(storm: Storm, *, messages: int, share: float, approvals: int, cuts: range) -> None:
    storm.proxy.faults = Faults(seed=SEED, refused=0.10, dropped=0.03, delivered_again=0.15)
    threads, memory = threading.active_count(), _resident_mb()
    with ThreadPoolExecutor(HANDS) as hands:
        controls = [Control(storm.url) for _ in range(HANDS)]
        for first in range(0, messages, BURST):
            numbers = range(first, min(messages, first + BURST))
            storm.burst(numbers, hands, controls, share=share, cut=first // BURST in cuts)
            for message in storm.waiting()[: max(1, approvals * BURST // messages)]:
                if len(storm.approved) < approvals:
                    storm.approve(message)
    _wait_until_quiet(storm)
    for message in storm.waiting()[: approvals - len(storm.approved)]:
        storm.approve(message)
    storm.proxy.faults = None
    _nothing_lost(storm, was_away=bool(cuts))
    _nothing_twice(storm, was_away=bool(cuts))
    _still_well(storm, threads=threads, memory_mb=memory)


def _wait_until_quiet(storm: Storm) -> None:
    """Wait until every event is sorted and every question has its draft."""
    try:
        storm.office.control.wait_for(lambda: not _unsettled(storm), "everything to be settled", timeout_s=300)
    except ProviderError:
        assert _unsettled(storm) == []


def _unsettled(storm: Storm) -> list[object]:
    """Return the messages not sorted yet, the jobs left and the threads without a draft."""
    kept = storm.office.kept
    journaled = {(e["chat_id"], e["message_id"]) for e in kept.records("events-classified")}
    missing = [m for m in storm.sent if m.place not in journaled and not m.deleted]
    jobs = [state for state in ("", "running") if kept.jobs(state)]
    return [*missing, *jobs, *(key for key, s in storm.states().items() if s["status"] != "pending-user")]


def _nothing_lost(storm: Storm, *, was_away: bool) -> None:
    """Every message once. What was deleted, or edited, while the bot was away is not there to be read any more."""
    events = storm.office.kept.records("events")
    said = Counter((e["chat_id"], e["message_id"]) for e in events if e["msg_type"] not in ("edit", "delete"))
    _as_expected(said, sure=[m.place for m in storm.sent if not (m.deleted and was_away)], all_=storm.sent)
    for kind in ("edit", "delete"):
        changed = [m for m in storm.sent if (m.edited if kind == "edit" else m.deleted)]
        found = Counter((e["chat_id"], e["message_id"]) for e in events if e["msg_type"] == kind)
        _as_expected(found, sure=[] if was_away else [m.place for m in changed], all_=changed)
    sorted_ = storm.office.kept.records("events-classified")
    assert [e["message_id"] for e in sorted_] == [e["message_id"] for e in events]


def _nothing_twice(storm: Storm, *, was_away: bool) -> None:
    """One card for every question, one reply and one line in the log for every approval."""
    control = storm.office.control
    marks = [b.get("block_id", "") for m in control.messages(OPS.channel_id) for b in m.get("blocks") or []]
    cards = Counter(mark for mark in marks if mark.startswith(ids.card_block_id("")))
    sure = [ids.card_block_id(m.thread_id) for m in storm.questions if not (m.deleted and was_away)]
    assert set(sure) <= set(cards) <= {ids.card_block_id(m.thread_id) for m in storm.questions}
    assert set(cards.values()) == {1}
    answered = [m for chat in (HELP, ENG) for m in control.messages(chat.channel_id) if m.get("user") == DEMO.bot_id]
    assert Counter(m["thread_ts"] for m in answered) == Counter(m.ts for m in storm.approved)
    logged = Counter(r["thread_id"] for r in storm.office.kept.records("replies"))
    assert logged == Counter(m.thread_id for m in storm.approved)


def _as_expected(found: Counter[tuple[str, str]], *, sure: list[tuple[str, str]], all_: list[Sent]) -> None:
    assert set(sure) <= set(found) <= {message.place for message in all_}
    assert not [place for place, times in found.items() if times > 1]


def _still_well(storm: Storm, *, threads: int, memory_mb: float) -> None:
    assert storm.office.kept.jobs("failed") == 0
    lines = [m["text"] for m in storm.office.control.messages(OPS.channel_id) if not m.get("blocks")]
    assert not [line for line in lines if "Gave up" in line]
    ts = storm.office.ask(SESSIONS)
    storm.office.draft(ts)
    storm.office.control.wait_for(lambda: threading.active_count() <= threads + 24, "the threads to end")
    assert _resident_mb() - memory_mb < 150


def _resident_mb() -> float:
    """Return how much memory the process holds, in MB; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _figures(storm: Storm) -> str:
    """Return what was measured, one line a figure."""
    kept, calls, outcomes = storm.office.kept, storm.proxy.calls, storm.proxy.outcomes()
    sorted_at = {
        (e["chat_id"], e["message_id"]): _epoch(e["classified_at"])
        for e in kept.records("events-classified")
        if e["msg_type"] not in ("edit", "delete")
    }
    posts = [call for call in calls if call.method == "chat.postMessage" and call.outcome != REFUSED]
    first_cards = {
        m.thread_id: next((c.at for c in posts if ids.card_block_id(m.thread_id).encode() in c.body), None)
        for m in storm.questions
    }
    to_card = [at - m.at for m in storm.questions if (at := first_cards[m.thread_id]) is not None]
    span_s = max(m.at for m in storm.sent) - min(m.at for m in storm.sent)
    read_back = sum(e["event_id"] is None for e in kept.records("events"))
    lines = {
        "messages": f"{len(storm.sent)} in {span_s:.1f} s, {len(storm.sent) / span_s:.0f} a second",
        "changes": f"{sum(m.edited for m in storm.sent)} edited, {sum(m.deleted for m in storm.sent)} deleted",
        "questions": f"{len(storm.questions)}, {len(storm.approved)} approved with {storm.clicks} clicks",
        "message to acknowledgement": _spread([m.taken_s for m in storm.sent]),
        "message to sorted": _spread([at - m.at for m in storm.sent if (at := sorted_at.get(m.place))]),
        "question to card": _spread(to_card),
        "calls": f"{len(calls)}: {outcomes[REFUSED]} refused with 429, {outcomes[DROPPED]} cut off",
        "sockets": f"{storm.proxy.connections} connections, {read_back} messages read back that came in between",
        "deliveries": f"{storm.proxy.delivered} and {storm.proxy.delivered_again} again",
        "memory": f"{_resident_mb():.0f} MB, {threading.active_count()} threads",
    }
    return "\n".join(f"  {name}: {figure}" for name, figure in lines.items())


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _spread(seconds: list[float]) -> str:
    cuts = quantiles(seconds, n=20, method="inclusive")
    return f"p50 {cuts[9] * 1000:.0f} ms, p95 {cuts[18] * 1000:.0f} ms, worst {max(seconds) * 1000:.0f} ms"

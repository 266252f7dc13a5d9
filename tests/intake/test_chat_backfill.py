"""Backfill: what was said while nobody listened is heard once, however often the bot dies on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.config.team_settings import WatchedChat
from bot.domain.alerts import ThreadAlert
from bot.domain.events import Event, thread_key
from bot.domain.jobs import MessageWork
from bot.domain.threads import Followup, Resolution, ThreadStatus
from bot.errors import ProviderError, StoreError, Unavailable
from bot.intake.chat_backfill import DIRECT, FIRST_PAUSE_S, MAX_DIRECT, MAX_PAUSE_S, Backfill, ChatToReadBack
from bot.intake.gaps import OVERLAP, Gaps
from bot.ports import Message
from tests.builders import NOW, a_thread, in_status
from tests.fakes import MemorySingle
from tests.intake.test_watcher import Post, with_text

HELP, ELSE = "C0HELP", "C0ELSE"
START = NOW.timestamp()


def ts(seconds: float) -> str:
    """Return a ts so many seconds after the first start."""
    return f"{START + seconds:.6f}"


def said(seconds: float, text: str = "Why is it slow?", **more: Any) -> dict[str, Any]:
    """Return a message as `conversations.history` gives it."""
    return {"type": "message", "user": "U1", "text": text, "ts": ts(seconds), **more}


class FakeHistory:
    """Port History over lists, newest first and two a page as Slack does it; `script` is raised before pages."""

    def __init__(self) -> None:
        self.roots: dict[str, list[dict[str, Any]]] = {}
        self.threads: dict[str, list[dict[str, Any]]] = {}
        self.script: list[Exception | None] = []
        self.refused: dict[str, Exception] = {}
        self.asked: list[str] = []
        self.direct: list[str] | Exception = []
        self.meanwhile: Any = None

    def messages(self, chat_id: str, *, oldest: str) -> Iterator[Message]:
        return self._pages(chat_id, self.roots.get(chat_id, []), oldest)

    def replies(self, chat_id: str, thread_ts: str, *, oldest: str = "0") -> Iterator[Message]:
        return self._pages(thread_ts, self.threads.get(thread_ts, []), oldest)

    def direct_chats(self) -> Iterator[str]:
        if isinstance(self.direct, Exception):
            raise self.direct
        yield from self.direct

    def _pages(self, place: str, found: list[dict[str, Any]], oldest: str) -> Iterator[Message]:
        newest = sorted((m for m in found if float(m["ts"]) >= float(oldest)), key=lambda m: m["ts"], reverse=True)
        for start in range(0, max(len(newest), 1), 2):
            self.asked.append(place)
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
            if place in self.refused:
                raise self.refused[place]
            if self.script and (error := self.script.pop(0)) is not None:
                raise error
            yield from newest[start : start + 2]


class Desk(Post):
    """The watcher's surroundings, with a history and a disk that outlive the process."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.history, self.stored = FakeHistory(), MemorySingle()
        self.told: list[str] = []
        self.now_s, self.is_ours = 0.0, True
        self.set_clock: Callable[[], object] = lambda: None
        self.backfill = self._backfill()

    def _backfill(self) -> Backfill:
        return Backfill(
            self.settings,
            self.watcher,
            ChatToReadBack(
                history=self.history,
                team_id="T1",
                clock=self.clock,
                set_clock=lambda: self.set_clock(),
                hear=self.watcher.receive,
            ),
            store=self.store,
            gaps=Gaps(self.stored),
            say=self.told.append,
            may_read=lambda: self.is_ours,
            monotonic=lambda: self.now_s,
        )

    def restart(self) -> None:
        super().restart()
        self.backfill = self._backfill()

    def hear(self, seconds: float, text: str = "Why is it slow?", **more: Any) -> bool:
        """Deliver a message by the live connection."""
        return self.watcher.receive(with_text(text, ts(seconds), **more))

    def after(self, seconds: float, away_since: datetime | None = None) -> float | None:
        """Connect so many seconds after the first start, and catch up."""
        self.clock.at = NOW + timedelta(seconds=seconds)
        self.backfill.open(away_since)
        return self.catch_up()

    def catch_up(self) -> float | None:
        """Tick once the pause is over; return how long the next one is in seconds, None where nothing failed."""
        self.now_s = max(self.now_s, self.backfill._try_at)
        with suppress(Unavailable, StoreError):
            self.backfill.tick()
        return max(0.0, self.backfill._try_at - self.now_s) or None

    def heard(self) -> list[str]:
        """Return what was journaled: kind and, for a message, seconds after the first start."""
        return [f"{r['msg_type']} {float(r['message_id']) - START:g}" for r in self.events.records()]

    def gaps(self) -> Mapping[str, str]:
        """Return the holes on disk."""
        found: Mapping[str, str] = self.stored.document.get("gaps", {})
        return found


@pytest.fixture
def desk() -> Desk:
    """A bot that has started for the first time and heard one message 100 s later."""
    desk = Desk()
    assert desk.after(0) is None
    desk.hear(100)
    return desk


def test_history_before_the_first_start_is_not_answered() -> None:
    """A new bot in an old channel does not wake the dead; the moment is on disk and survives a restart."""
    desk = Desk()
    desk.history.roots[HELP] = [said(-5), said(-90_000)]
    assert desk.after(0) is None
    assert desk.heard() == []
    desk.history.roots[HELP].append(said(50))
    desk.restart()
    assert desk.after(300) is None
    assert desk.heard() == ["text 50"]


@pytest.mark.parametrize("listed", [["D0KNOWN", "D0GONE", "D0NEW"], ProviderError("no", code="missing_scope")])
def test_direct_messages_are_read_back(desk: Desk, listed: Any) -> None:
    """Also the first that somebody ever writes; without the scope to list them those of whom the journal knows."""
    desk.hear(110, "why?", channel="D0KNOWN")
    desk.history.direct = listed
    desk.history.refused["D0GONE"] = ProviderError("gone", code="channel_not_found")
    desk.history.roots = {"D0KNOWN": [said(200)], "D0NEW": [said(210)]}
    desk.restart()
    for _ in range(2):
        assert desk.after(300, NOW + timedelta(seconds=150)) is None
        assert desk.heard()[2:] == ["text 200", "text 210"][: 2 if isinstance(listed, list) else 1]
        assert desk.gaps() == {}


def test_a_chat_that_is_away_leaves_direct_messages_to_be_read_later(desk: Desk) -> None:
    """And of very many only those are read in which somebody wrote last."""
    desk.hear(110, "why?", channel="D0KNOWN")
    desk.history.direct = Unavailable("away")
    desk.history.roots = {"D0KNOWN": [said(200)]}
    assert desk.after(300, NOW + timedelta(seconds=150)) == FIRST_PAUSE_S
    assert (list(desk.gaps()), desk.heard()[2:]) == ([DIRECT], [])
    desk.history.direct = [f"D{number}" for number in range(2 * MAX_DIRECT)]
    assert desk.catch_up() is None
    assert (desk.gaps(), desk.heard()[2:]) == ({}, ["text 200"])
    assert sum(place.startswith("D") for place in desk.history.asked) == MAX_DIRECT


@pytest.mark.parametrize("hours", [24, 48, -24])
def test_a_clock_that_is_wrong_loses_nothing(desk: Desk, hours: int) -> None:
    """The chat's time is asked for before a hole is read: how far back it reaches is measured by that."""
    desk.history.roots[HELP] = [said(100), said(200)]
    desk.clock.at = NOW + timedelta(hours=hours)
    desk.backfill.open(NOW + timedelta(seconds=150))
    desk.set_clock = lambda: setattr(desk.clock, "at", NOW + timedelta(seconds=300))
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100", "text 200"]
    assert desk.gaps() == {}


def test_a_hole_stays_open_while_the_chat_does_not_tell_its_time(desk: Desk) -> None:
    """It closes only when it was read."""

    def refuse() -> None:
        raise Unavailable("Slack could not be reached")

    desk.history.roots[HELP] = [said(200)]
    desk.set_clock = refuse
    assert desk.after(300) == FIRST_PAUSE_S
    assert (desk.heard(), list(desk.gaps())) == (["text 100"], [HELP, DIRECT])


def test_a_first_start_with_a_clock_ahead_costs_no_later_message() -> None:
    """Its wrong moment stands on disk; watching cannot begin in the future."""
    desk = Desk()
    assert desk.after(86_400) is None
    desk.history.roots[HELP] = [said(200)]
    desk.restart()
    assert desk.after(150) is None
    desk.restart()
    assert desk.after(300) is None
    assert desk.heard() == ["text 200"]


def test_what_was_said_meanwhile_is_heard_once_and_oldest_first(desk: Desk) -> None:
    """Over several pages that come newest first; a second start finds nothing new."""
    desk.history.roots[HELP] = [said(100)] + [said(200 + n, f"Why {n}?") for n in range(7)]
    for _ in range(2):
        desk.restart()
        assert desk.after(1000, NOW + timedelta(seconds=280)) is None
    assert desk.heard() == ["text 100"] + [f"text {200 + n}" for n in range(7)]
    assert desk.gaps() == {}
    desk.sort()
    assert len(desk.queued()) == 8


def test_alerts_of_listed_bots_are_heard_among_peoples_messages_in_the_order_they_were_written() -> None:
    """Firing before resolved, whatever page and thread they came from; bots that are not listed stay unheard."""
    desk = Desk(allow_bots=["B0ALERT"])
    desk.after(0)
    desk.hear(100)
    alert = {"user": None, "bot_id": "B0ALERT", "subtype": "bot_message"}
    firing = said(200, "[FIRING] slow", latest_reply=ts(220), thread_ts=ts(200), **alert)
    desk.history.roots[HELP] = [firing, said(210), said(230, "[FIRING] slow", **alert)]
    desk.history.roots[HELP] += [
        said(240, "[RESOLVED] slow", **alert),
        said(250, "hi", **{**alert, "bot_id": "B0ELSE"}),
    ]
    desk.history.threads[ts(200)] = [firing, said(220, "[RESOLVED] slow", thread_ts=ts(200), **alert)]
    assert desk.after(300) is None
    assert desk.heard() == ["text 100", "text 200", "text 210", "thread_reply 220", "text 230", "text 240"]


def test_the_ops_channel_hears_how_long_and_how_much(desk: Desk) -> None:
    """One line."""
    desk.history.roots[HELP] = [said(200), said(210), said(220), said(230, "thanks!")]
    desk.restart()
    desk.after(1000, NOW + timedelta(seconds=280))
    assert desk.told == ["The bot was away 12 min: 4 missed messages picked up."]


def test_a_short_absence_in_which_nothing_was_said_is_not_worth_a_line(desk: Desk) -> None:
    """A long one is: somebody may have wondered."""
    desk.after(150, NOW + timedelta(seconds=120))
    assert desk.told == []
    desk.after(1000, NOW + timedelta(seconds=100))
    assert desk.told == ["The bot was away 15 min: nothing was missed."]


def test_what_is_written_after_the_connection_was_not_missed(desk: Desk) -> None:
    """Nor since the connection was asked for: the look back may read it before it is delivered."""
    desk.clock.at = NOW + timedelta(seconds=200)
    desk.backfill.open(None, timedelta(seconds=5))
    desk.history.roots[HELP] = [said(194.5), said(195.5), said(200.5)]
    desk.catch_up()
    assert desk.heard() == ["text 100", "text 194.5", "text 195.5", "text 200.5"]
    assert desk.told == ["1 missed message picked up."]


def test_a_message_that_is_delivered_as_well_counts_once(desk: Desk) -> None:
    """Live and read back, in either order."""
    desk.history.roots[HELP] = [said(200), said(210)]
    desk.clock.advance(300)
    desk.backfill.open(None)
    assert desk.hear(210) is True
    assert desk.catch_up() is None
    assert desk.hear(200) is False
    assert sorted(desk.heard()) == ["text 100", "text 200", "text 210"]


def test_a_live_message_does_not_hide_the_hole_before_it_not_even_from_the_next_process(desk: Desk) -> None:
    """The last message heard is newer than the hole; the hole is on disk and is filled all the same."""
    desk.history.roots[HELP] = [said(200), said(300)]
    desk.history.script = [Unavailable("Slack could not be reached")]
    assert desk.after(290) == FIRST_PAUSE_S
    assert desk.hear(300) is True
    desk.restart()
    assert desk.after(400) is None
    assert desk.heard() == ["text 100", "text 300", "text 200"]


def test_a_crash_right_after_the_first_live_message_does_not_hide_the_hole(desk: Desk) -> None:
    """Opened before anything is heard: the process may die at any moment after it."""
    desk.clock.advance(290)
    desk.backfill.open(None)
    desk.hear(300)
    desk.history.roots[HELP] = [said(200), said(300)]
    desk.restart()
    desk.restart()
    assert desk.after(400) is None
    assert "text 200" in desk.heard()


def test_a_hole_that_opens_while_another_is_read_is_not_closed_with_it(desk: Desk) -> None:
    """A second loss of the connection in the middle of the reading: both are read."""
    desk.history.meanwhile = lambda: desk.backfill.open(None)
    assert desk.after(200) is None
    desk.history.roots[HELP] = [said(205)]
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100", "text 205"]


def test_a_hole_that_cannot_be_written_down_is_an_error(desk: Desk) -> None:
    """Whoever listens must not go on then."""
    desk.stored.full = True
    with pytest.raises(StoreError):
        desk.backfill.open(None)


def test_a_first_start_on_a_full_disk_misses_nothing_that_was_said_since() -> None:
    """The disk refuses the moment of the start; what is said until it accepts it is read back."""
    desk = Desk()
    desk.history.roots[HELP] = [said(-5), said(20)]
    desk.stored.full = True
    with pytest.raises(StoreError):
        desk.after(10)
    desk.stored.full = False
    assert desk.after(60) is None
    assert desk.heard() == ["text 20"]


def test_a_full_disk_leaves_the_hole_open_and_loses_nothing(desk: Desk) -> None:
    """Half of it journaled, then no space: the rest comes with the next try."""
    desk.history.roots[HELP] = [said(200), said(210)]
    desk.events.full = True
    assert desk.after(300) == FIRST_PAUSE_S
    desk.events.full = False
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100", "text 200", "text 210"]


def test_failures_make_the_pauses_grow_to_ten_minutes_and_success_resets_them(desk: Desk) -> None:
    """An outage of an hour is not asked about every five seconds."""
    desk.history.script = [Unavailable("down")] * 9
    pauses = [desk.after(200), *(desk.catch_up() for _ in range(8))]
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 600, MAX_PAUSE_S]
    assert desk.catch_up() is None
    desk.history.script = [Unavailable("down")]
    assert desk.after(300) == FIRST_PAUSE_S
    assert desk.told == []


def test_pauses_grow_anew_after_each_connection(desk: Desk) -> None:
    """A line that broke again and again, each time before all was read, leaves no pause of ten minutes behind."""
    desk.history.script = [Unavailable("down")] * 9
    for _ in range(8):
        desk.after(200)
    assert desk.after(200) == FIRST_PAUSE_S


def test_the_next_try_waits_as_long_as_slack_asks(desk: Desk) -> None:
    """Longer than its own pause; until then nothing is asked."""
    desk.history.script = [Unavailable("ratelimited", retry_after_s=30)]
    assert desk.after(200) == 30
    asked = len(desk.history.asked)
    desk.now_s += 29
    desk.backfill.tick()
    assert len(desk.history.asked) == asked
    assert desk.catch_up() is None


def test_a_stop_ends_the_reading_and_keeps_the_hole(desk: Desk) -> None:
    """Nothing is heard after it; the next start reads it."""
    desk.history.roots[HELP] = [said(200)]
    desk.backfill.stop.set()
    desk.after(300)
    assert desk.heard() == ["text 100"]
    assert HELP in desk.gaps()


def test_a_replica_reads_nothing_while_another_does(desk: Desk) -> None:
    """It takes over what is left once it may, and says nothing of its own absence: the other one was there."""
    desk.history.roots[HELP] = [said(200)]
    desk.is_ours = False
    desk.after(900, NOW + timedelta(seconds=180))
    assert (desk.heard(), list(desk.gaps())) == (["text 100"], [HELP, DIRECT])
    desk.is_ours = True
    desk.catch_up()
    assert desk.heard() == ["text 100", "text 200"]
    assert desk.told == ["1 missed message picked up."]


def test_a_chat_that_may_not_be_read_is_told_once_and_does_not_stop_the_others() -> None:
    """Which one and what to do; it is tried on, and once it can be read it is."""
    desk = Desk(mentions_anywhere=True)
    desk.after(0)
    desk.hear(100)
    desk.hear(101, "<@U0BOT> why?", channel=ELSE)
    desk.store.put(a_thread(thread_id=f"T1.{ELSE}.{ts(101)}", chat_id=ELSE, original_message_id=ts(101)))
    desk.history.threads[ts(101)] = [said(101)]
    desk.history.refused[HELP] = ProviderError("Slack could not read: not_in_channel; invite the bot to the channel")
    desk.history.roots[ELSE] = [said(210, "<@U0BOT> and why that?")]
    desk.restart()
    assert desk.after(300, NOW + timedelta(seconds=290)) == FIRST_PAUSE_S
    assert desk.catch_up() == 2 * FIRST_PAUSE_S
    assert "text 210" in desk.heard()
    assert desk.told == [
        "Messages in #help (C0HELP) from 2026-11-20 09:00 UTC on may have been missed: "
        "Slack could not read: not_in_channel; invite the bot to the channel. It is tried again by itself.",
        "The bot was away 10 s: 1 missed message picked up.",
    ]
    del desk.history.refused[HELP]
    desk.history.roots[HELP] = [said(200)]
    assert desk.catch_up() is None
    assert "text 200" in desk.heard()


def test_nothing_older_than_backfill_max_is_read_and_that_is_said() -> None:
    """After a week of absence the last day counts."""
    desk = Desk(backfill_max="24h")
    desk.after(0)
    desk.hear(100)
    week = 7 * 86_400
    desk.history.roots[HELP] = [said(5_000), said(week - 3_600)]
    desk.restart()
    assert desk.after(week, NOW + timedelta(seconds=130)) is None
    assert desk.heard() == ["text 100", f"text {week - 3_600:g}"]
    assert desk.told == ["The bot was away 6 d: 1 missed message picked up. What is older than 1 d was not read."]


def test_a_mention_in_an_unwatched_channel_is_found_where_a_thread_is_open() -> None:
    """There other messages stay nobody's business."""
    desk = Desk(watched=False)
    desk.after(0)
    desk.hear(101, "<@U0BOT> why?", channel=ELSE)
    desk.store.put(a_thread(thread_id=f"T1.{ELSE}.{ts(101)}", chat_id=ELSE, original_message_id=ts(101)))
    desk.history.threads[ts(101)] = [said(101), said(250, "since v2", thread_ts=ts(101))]
    desk.history.roots[ELSE] = [said(200, "is it slow?"), said(210, "<@U0BOT> how?")]
    assert desk.after(300) is None
    assert desk.heard() == ["text 101", "text 210", "thread_reply 250"]


def test_a_chat_that_is_nobodys_business_any_more_is_not_asked_about_for_ever() -> None:
    """Its thread was closed while it could not be read: the hole is forgotten."""
    desk = Desk(watched=False)
    desk.after(0)
    desk.hear(101, "<@U0BOT> why?", channel=ELSE)
    state = desk.store.put(a_thread(thread_id=f"T1.{ELSE}.{ts(101)}", chat_id=ELSE, original_message_id=ts(101)))
    desk.history.refused[ELSE] = ProviderError("Slack could not read: channel_not_found")
    assert desk.after(300) == FIRST_PAUSE_S
    desk.store.put(state.close(Resolution.DISMISSED, at=NOW, why="dismissed"))
    asked = len(desk.history.asked)
    assert desk.catch_up() is None
    assert (len(desk.history.asked), desk.gaps()) == (asked, {})


class TestThreads:
    """History lists roots only; replies are where people say what they meant."""

    def test_new_replies_of_an_open_thread_are_heard(self, desk: Desk) -> None:
        """Also where the root is older than anything that is listed; its old replies are not."""
        old = -200_000
        desk.store.put(a_thread(thread_id=f"T1.{HELP}.{ts(old)}", chat_id=HELP, original_message_id=ts(old)))
        replies = [said(s, "we use v2", thread_ts=ts(old)) for s in (old + 10, 200)]
        desk.history.threads[ts(old)] = [said(old, "How often do we retry?"), *replies]
        assert desk.after(300) is None
        assert desk.heard() == ["text 100", "thread_reply 200"]

    def test_a_reply_under_yesterdays_root_is_found_by_its_latest_reply(self, desk: Desk) -> None:
        """Only threads in which something was said since are read, one request each."""
        fresh = said(-3_600, latest_reply=ts(210), thread_ts=ts(-3_600), reply_count=2)
        stale = said(-7_200, latest_reply=ts(-7_000), thread_ts=ts(-7_200), reply_count=1)
        desk.history.roots[HELP] = [fresh, stale]
        desk.history.threads[ts(-3_600)] = [
            fresh,
            said(-3_500, "old", thread_ts=ts(-3_600)),
            said(210, "<@U0BOT> why?", thread_ts=ts(-3_600)),
        ]
        assert desk.after(300) is None
        assert desk.heard() == ["text 100", "thread_reply 210"]
        assert ts(-7_200) not in desk.history.asked

    def test_a_reply_sent_to_the_channel_too_is_one_message(self, desk: Desk) -> None:
        """It stands in the history and in the thread."""
        root = said(200, latest_reply=ts(210), thread_ts=ts(200), reply_count=1)
        both = said(210, "so?", subtype="thread_broadcast", thread_ts=ts(200))
        desk.history.roots[HELP], desk.history.threads[ts(200)] = [root, both], [root, both]
        desk.after(300)
        assert desk.heard() == ["text 100", "text 200", "thread_reply 210"]


class TestChanges:
    """What people changed meanwhile reaches the open thread as it would have live."""

    @pytest.fixture
    def desk(self, desk: Desk) -> Desk:
        """A draft waits for the message heard 100 s after the start; one reply was recorded."""
        followup = Followup(message_id=ts(120), sender_id="U2", text="v2", at=NOW)
        state = in_status(
            ThreadStatus.BOUNCED,
            thread_id=f"T1.{HELP}.{ts(100)}",
            chat_id=HELP,
            original_message_id=ts(100),
            question="Why is it slow?",
            followups=(followup,),
        )
        desk.store.put(state)
        self.reply = said(120, "v2", user="U2", thread_ts=ts(100))
        return desk

    def changed(self, desk: Desk, *thread: dict[str, Any]) -> list[str]:
        """Return what is heard when the thread reads so after an absence."""
        desk.history.threads[ts(100)] = list(thread)
        assert desk.after(300) is None
        return [line for line in desk.heard() if line.startswith(("edit", "delete"))]

    def test_an_edited_question_is_an_edit(self, desk: Desk) -> None:
        """With its new words, once."""
        edited = said(100, "Why is it fast?", edited={"user": "U1", "ts": ts(150)})
        assert self.changed(desk, edited, self.reply) == ["edit 100"]
        assert [r["content"] for r in desk.events.records()][-2:] == ["v2", "Why is it fast?"]
        desk.restart()
        assert self.changed(desk, edited, self.reply) == ["edit 100"]

    @pytest.mark.parametrize("is_delivered_first", [True, False])
    @pytest.mark.parametrize("author", ["U1", "B1"])
    def test_an_edit_that_is_delivered_and_read_back_is_one_event(
        self, desk: Desk, author: str, is_delivered_first: bool
    ) -> None:
        """In either order, and before anybody applied it; the next edit of the same second is another one."""
        sender = {"user": author} if author.startswith("U") else {"bot_id": author}
        state = desk.store.threads()[0]
        desk.store.put(state.evolve(original_sender_id=author))

        def shown(text: str) -> dict[str, Any]:
            return {**said(100, text, edited={"user": author, "ts": f"{int(START) + 150}.000000"}), **sender}

        def deliver(text: str, event_id: str) -> None:
            change = {"message": shown(text), "previous_message": {**shown("Why is it slow?"), "edited": None}}
            event = {"type": "message", "subtype": "message_changed", "channel": HELP, **change}
            desk.watcher.receive({"team_id": "T1", "event_id": event_id, "event": event})

        def read_back(text: str, event_id: str) -> None:
            assert self.changed(desk, shown(text), self.reply)

        for deliver_or_read in (deliver, read_back) if is_delivered_first else (read_back, deliver):
            deliver_or_read("Why is it fast?", "Ev1")
        assert desk.heard().count("edit 100") == 1
        desk.restart()
        for again in (deliver, read_back, deliver):
            again("Why is it fast?", "Ev1")
        assert desk.heard().count("edit 100") == 1
        deliver("Why is it fast now?", "Ev2")
        read_back("Why is it fast now?", "")
        assert desk.heard().count("edit 100") == 2

    def test_an_alert_resolved_meanwhile_is_an_edit(self, desk: Desk) -> None:
        """Slack marks no update of a bot's blocks or attachments; the bot need not be listed if somebody asked."""
        resolved = said(100, "RESOLVED", bot_id="B0ALERT")
        assert self.changed(desk, resolved, self.reply) == ["edit 100"]
        assert not desk.hear(310, "Why?", bot_id="B0ALERT", thread_ts=ts(100))

    def test_an_untouched_question_is_no_event(self, desk: Desk) -> None:
        """Nor is a reply that is still there."""
        assert self.changed(desk, said(100), self.reply) == []

    @pytest.mark.parametrize("tombstone", [True, False])
    def test_a_deleted_question_is_a_deletion(self, desk: Desk, tombstone: bool) -> None:
        """As Slack shows it: a tombstone under which replies stand, or nothing at all."""
        left = [said(100, "This message was deleted.", subtype="tombstone"), self.reply] if tombstone else []
        assert self.changed(desk, *left) == ["delete 100"]
        desk.sort()
        assert [event["msg_type"] for event in desk.queued()][-1] == "delete"

    def test_a_deleted_reply_is_a_deletion_in_its_thread(self, desk: Desk) -> None:
        """So that the draft is no longer doubted because of it."""
        assert self.changed(desk, said(100)) == ["delete 120"]
        assert list(desk.events.records())[-1]["thread_id"] == ts(100)

    def test_a_thread_that_could_not_be_read_to_its_end_deletes_nothing(self, desk: Desk) -> None:
        """An outage on page two looks like missing messages and is none."""
        desk.history.threads[ts(100)] = [said(100), self.reply, said(200, thread_ts=ts(100))]
        desk.history.script = [None, None, Unavailable("down")]
        assert desk.after(300) == FIRST_PAUSE_S
        assert [line for line in desk.heard() if line.startswith("delete")] == []


def test_the_overlap_catches_what_slack_delivered_out_of_order(desk: Desk) -> None:
    """A message a little older than the last one heard, and never delivered."""
    desk.hear(160)
    desk.history.roots[HELP] = [said(160 - OVERLAP.total_seconds() + 10)]
    desk.after(300)
    assert desk.heard() == ["text 100", "text 160", "text 110"]


def test_a_channel_watched_from_now_on_has_no_history() -> None:
    """Added to the settings, or watched once and long ago: it begins now."""
    stored = MemorySingle()
    gaps = Gaps(stored)
    gaps.open({"C1": None}, watched=["C1"], at=NOW)
    for gap in gaps.pending():
        gaps.close(gap)
    assert gaps.pending() == []
    later = NOW + timedelta(days=30)
    again = Gaps(stored)
    again.open({"C2": None}, watched=["C2"], at=later)
    third = Gaps(stored)
    third.open({"C1": NOW}, watched=["C1", "C2"], at=later)
    assert {gap.chat_id: gap.since for gap in third.pending()} == {"C1": later, "C2": later}


def test_a_record_that_is_gone_hides_nothing_that_was_asked_since() -> None:
    """An early release kept none: each chat has a gap since it was heard last, or since anything was."""
    for stored in (MemorySingle(), MemorySingle({"gaps": {}, "watching_since": "soon"})):
        gaps, day = Gaps(stored), timedelta(days=1)
        heard = {"C1": NOW - 2 * day, "C2": None}
        gaps.open(heard, watched=["C1", "C2"], at=NOW, deaf_since=NOW - day)
        assert {gap.chat_id: NOW - gap.since for gap in gaps.pending()} == {"C1": 2 * day + OVERLAP, "C2": day}


def test_what_was_asked_where_no_record_of_gaps_and_presence_is_left_is_picked_up(desk: Desk) -> None:
    """The journal of messages is enough; also of a direct message under an alert, of whose chat none is in it."""
    desk.history.roots[HELP] = [said(100), said(200)]
    desk.stored = MemorySingle()
    desk.restart()
    desk.backfill._chat = replace(desk.backfill._chat, also=lambda: frozenset({"D0ANA"}))
    desk.clock.at = NOW + timedelta(seconds=300)
    desk.backfill.open(NOW + timedelta(seconds=299))
    assert datetime.fromisoformat(desk.gaps()["D0ANA"]) == NOW + timedelta(seconds=100) - OVERLAP
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100", "text 200"]


def test_a_document_that_cannot_be_read_is_begun_anew() -> None:
    """The journal knows when each chat was heard last."""
    gaps = Gaps(MemorySingle({"gaps": {"C1": "soon"}, "watching_since": []}))
    assert gaps.pending() == []
    gaps.open({"C1": NOW - timedelta(hours=1)}, watched=[], at=NOW)
    assert [gap.chat_id for gap in gaps.pending()] == ["C1"]


def test_a_channel_that_is_watched_from_now_on_is_read_from_this_moment_on(desk: Desk) -> None:
    """What was said there before is nobody's business; a restart goes on from the same moment."""
    desk.history.roots["C0NEW"] = [said(150), said(205, "Why is checkout slow?")]
    desk.clock.at = NOW + timedelta(seconds=200)
    chats = (*desk.settings.watched_chats, WatchedChat(chat_id="C0NEW", name="new"))
    desk.backfill.watch(chats)
    desk.watcher.watch(chats)
    desk.clock.at = NOW + timedelta(seconds=210)
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100", "text 205"]
    assert desk.hear(220, channel="C0NEW")
    assert desk.gaps() == {}


def test_a_channel_that_is_watched_no_more_is_not_read(desk: Desk) -> None:
    """Neither live nor afterwards; watched once more, it begins anew."""
    kept = [chat for chat in desk.settings.watched_chats if chat.chat_id != "C0HELP"]
    desk.backfill.watch(kept)
    desk.watcher.watch(kept)
    assert not desk.hear(250)
    desk.history.roots["C0HELP"] = [said(260)]
    assert desk.after(300) is None
    desk.backfill.watch(desk.settings.watched_chats)
    desk.watcher.watch(desk.settings.watched_chats)
    assert desk.catch_up() is None
    assert desk.heard() == ["text 100"]
    assert desk.hear(310)


def test_a_disk_that_refuses_leaves_the_watched_channels_as_they_were(desk: Desk) -> None:
    """A new one would have no beginning."""
    desk.stored.full = True
    with pytest.raises(StoreError):
        desk.backfill.watch((WatchedChat(chat_id="C0NEW"),))
    desk.stored.full = False
    assert desk.after(300) is None
    assert "C0NEW" not in desk.history.asked


class TestAlerts:
    """What alert tools said and changed meanwhile."""

    def alert(self, seconds: float, title: str, **shown: Any) -> dict[str, Any]:
        """Return a message of the alert bot as the history gives it."""
        more = {"bot_id": "B0ALERT", "subtype": "bot_message", "attachments": [{"title": title, **shown}]}
        return {"type": "message", "text": "", "ts": ts(seconds), **more}

    def away(self, *history: dict[str, Any]) -> list[str]:
        """Let the bot be away, then find this in the history; return which states its jobs tell, in order.

        It knows of an alert that fired 100 s after its start, and again at 200 s.
        """
        desk = Desk(allow_bots=["B0ALERT"])
        desk.after(0)
        for seconds in (100, 200):
            body = with_text("", ts(seconds))
            body["event"] = {**self.alert(seconds, "CPU"), "channel": HELP}
            desk.watcher.receive(body)
        [event] = [Event.model_validate(record) for record in desk.events.records()][:1]
        assert event.alert is not None
        alert = ThreadAlert.of_first(event.alert, ts(100), NOW).after(event.alert, ts(200), NOW)
        place = {"thread_id": thread_key(event), "chat_id": HELP, "original_message_id": ts(100)}
        desk.store.put(a_thread(**place, question="CPU", original_sender_id="B0ALERT", alert=alert))
        desk.history.roots[HELP] = list(history)
        desk.history.threads[ts(100)] = [one for one in history if one["ts"] == ts(100)]
        for _ in range(2):
            desk.restart()
            desk.after(600)
        desk.sort()
        works = [job.work for job in desk.jobs.waiting.values() if isinstance(job.work, MessageWork)]
        return [str(work.event.alert_state or work.event.msg_type) for work in works][2:]

    def test_what_was_said_comes_in_order_and_the_newest_known_message_is_read_again(self) -> None:
        """An end that is a colour only is one; nothing is heard twice."""
        first = self.alert(100, "CPU")
        assert self.away(first, self.alert(200, "CPU", color="good")) == ["resolved"]
        later = [self.alert(300, "CPU"), self.alert(400, "Resolved: CPU")]
        assert self.away(first, self.alert(200, "CPU"), *later) == ["firing", "resolved"]

    def test_an_alert_whose_first_message_is_gone_is_withdrawn(self) -> None:
        """Its sender is no user."""
        assert self.away(self.alert(200, "CPU")) == ["delete"]


def test_an_absence_that_people_know_is_not_told_again(desk: Desk) -> None:
    """What was picked up is, and that it reaches further back than is read."""
    desk.history.roots[HELP] = [said(100), said(200)]
    for seconds, told in ((600, "1 missed message picked up."), (90_000, "What is older than 1 d was not read.")):
        desk.clock.at = NOW + timedelta(seconds=seconds)
        desk.backfill.open(NOW, is_told=True)
        desk.catch_up()
        assert desk.told[-1].endswith(told)
    assert desk.told[0] == "1 missed message picked up."

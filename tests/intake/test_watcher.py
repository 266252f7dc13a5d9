"""The watcher: one message makes one event, on disk before anybody hears of it, and none is forgotten."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from bot.config.settings import Settings
from bot.domain.events import Event, thread_key
from bot.domain.jobs import AlertArrived, FollowUpArrived, Job, MessageWork, Work
from bot.domain.threads import Resolution
from bot.errors import StoreError
from bot.intake.normalise import Identity
from bot.intake.watcher import MessageLog, Watcher
from tests.builders import NOW, a_sorter, a_thread
from tests.fakes import FakeClock, MemoryJobQueue, MemoryJournal, MemoryThreads
from tests.payloads import payload
from tests.tables import each_row

ME = Identity(team_id="T1", user_id="U0BOT", bot_id="B0BOT")
QUESTION_THREAD = "T1.C0HELP.1795165200.000100"


class Post:
    """A watcher with everything around it, which can be stopped and started again."""

    def __init__(self, *, watched: bool = True, **watcher: Any) -> None:
        chats = [{"chat_id": "C0HELP", "name": "help"}] if watched else []
        self.settings = Settings.model_validate(
            {"codebase": str(Path.cwd()), "ops_channel": "C0OPS", "watched_chats": chats, "watcher": watcher}
        )
        self.clock = FakeClock()
        self.events, self.classified = MemoryJournal(), MemoryJournal()
        self.store = MemoryThreads()
        self.jobs = MemoryJobQueue(self.clock)
        self.follow_ups: list[FollowUpArrived] = []
        self.watcher = self._new()

    def _new(self) -> Watcher:
        return Watcher(
            self.settings,
            ME,
            sorter=a_sorter(),
            journals=MessageLog(self.events, self.classified),
            threads=self.store,
            jobs=self.jobs,
            clock=self.clock,
            on_follow_up=self.follow_ups.append,
        )

    def restart(self) -> None:
        """What is in memory is gone; what is on disk is not."""
        self.watcher._sorting.shutdown(wait=True, cancel_futures=True)
        self.watcher = self._new()

    def receive(self, *names: str) -> list[bool]:
        """Deliver recorded bodies."""
        return [self.watcher.receive(payload(name)) for name in names]

    def sort(self) -> None:
        """Let the watcher sort what is left to sort."""
        self.watcher.settle()

    def queued(self) -> list[dict[str, Any]]:
        """Return the events that were queued, oldest first."""
        works = [job.work for job in self.jobs.waiting.values()]
        return [work.event.model_dump(mode="json") for work in works if isinstance(work, MessageWork)]

    def classes(self) -> list[str]:
        """Return what the rules said, in order."""
        return [record["classification"] for record in self.classified.records()]


def with_text(text: str, ts: str = "1795165200.000100", **changes: Any) -> dict[str, Any]:
    """Return the body of a message in the watched channel."""
    body = payload("message")
    said = {"text": text, "blocks": []}
    body["event"].update({**said, "ts": ts, "event_ts": ts, "client_msg_id": f"id-{ts}", **changes})
    body["event_id"] = f"Ev-{ts}"
    return body


def of_bot(text: str, *, was: str | None = None, subtype: str = "message_changed") -> dict[str, Any]:
    """Return the body of a message of the alert bot; with `was` of its edit or deletion."""
    body = payload("bot_message")
    message = {**body["event"], "text": text, "blocks": []}
    body["event"] = message
    if was is not None:
        change = {"message": message, "previous_message": {**message, "text": was}, "deleted_ts": message["ts"]}
        body["event"] = {"type": "message", "subtype": subtype, "channel": message["channel"], **change}
        body["event_id"] = "Ev-change"
    return body


def test_a_question_is_journaled_classified_and_queued() -> None:
    """The whole way of one message, the channel's name added."""
    post = Post()
    assert post.receive("message") == [True]
    assert [record["chat_name"] for record in post.events.records()] == ["help"]
    post.sort()
    assert post.classes() == ["actionable"]
    assert [event["message_id"] for event in post.queued()] == ["1795165200.000100"]
    assert [job.key for job in post.jobs.waiting.values()] == [QUESTION_THREAD]
    assert next(iter(post.classified.records()))["classified_at"] == NOW.isoformat().replace("+00:00", "Z")


def test_an_event_is_on_disk_when_receive_returns_and_sorted_soon() -> None:
    """Nobody has to ask for that."""
    post = Post()
    post.receive("message")
    assert len(post.events.lines) == 1
    post.watcher._sorting.shutdown(wait=True)
    assert (post.classes(), len(post.queued())) == (["actionable"], 1)


@each_row("order", [("message_with_mention", "app_mention"), ("app_mention", "message_with_mention")])
def test_a_mention_and_its_message_are_one_event_in_either_order(order: tuple[str, str]) -> None:
    """Slack delivers both with ids of their own; one event, one job, and it is a mention."""
    post = Post()
    assert post.receive(*order) == [True, False]
    post.sort()
    assert len(post.queued()) == 1
    assert [record["is_bot_mention"] for record in post.classified.records()] == [True]


def test_a_redelivery_is_the_same_event() -> None:
    """Slack asks up to three times more; the answer is one event."""
    post = Post()
    assert post.receive("message", "message", "message") == [True, False, False]
    post.sort()
    assert post.receive("message") == [False]
    assert len(post.events.lines) == 1


def test_one_client_message_id_in_a_channel_is_one_message() -> None:
    """A client that sent twice gets one event; in another channel the id means another message."""
    post = Post(watched=True)
    first = with_text("Why?", "1795165200.000100", client_msg_id="same")
    again = with_text("Why?", "1795165201.000100", client_msg_id="same")
    assert post.watcher.receive(first) is True
    assert post.watcher.receive(again) is False
    elsewhere = with_text("<@U0BOT> why?", "1795165202.000100", client_msg_id="same", channel="C0ELSE")
    assert post.watcher.receive(elsewhere) is True


def test_eight_deliveries_at_once_make_one_event() -> None:
    """Two sockets may deliver at the same moment."""
    post = Post()
    barrier = threading.Barrier(8)
    answers: list[bool] = []

    def deliver() -> None:
        barrier.wait()
        answers.append(post.watcher.receive(payload("message")))

    couriers = [threading.Thread(target=deliver) for _ in range(8)]
    for courier in couriers:
        courier.start()
    for courier in couriers:
        courier.join()
    assert sorted(answers) == [False] * 7 + [True]
    assert len(post.events.lines) == 1


def test_a_mention_in_an_unwatched_channel_counts() -> None:
    """mentions_anywhere: the mention copy is never dropped, whatever came before it."""
    post = Post(watched=False)
    assert post.receive("message") == [False]
    assert post.receive("app_mention") == [True]
    post.sort()
    assert len(post.queued()) == 1


def test_a_mention_in_an_unwatched_channel_is_ignored_if_so_configured() -> None:
    """mentions_anywhere off: only watched channels count."""
    post = Post(watched=False, mentions_anywhere=False)
    assert post.receive("app_mention", "message_with_mention") == [False, False]
    assert post.events.lines == []


def test_an_unwatched_edit_or_deletion_counts_only_for_a_thread_in_flight() -> None:
    """Somebody else's edit, even one that names the bot, is nobody's business; that of a question under way is."""
    post = Post(watched=False)
    assert post.receive("message_changed_by_edit", "message_deleted") == [False, False]
    post.store.put(a_thread(thread_id=QUESTION_THREAD, chat_id="C0HELP"))
    assert post.receive("message_changed_by_edit", "message_deleted") == [True, True]
    post.sort()
    assert [event["msg_type"] for event in post.queued()] == ["edit", "delete"]
    assert post.classes() == ["ambient", "ambient"]


def test_an_unwatched_reply_counts_only_in_a_thread_in_flight() -> None:
    """A question asked by mention has followers; the freshness of its draft depends on them."""
    post = Post(watched=False)
    assert post.receive("message_in_thread") == [False]
    post.store.put(a_thread(thread_id=QUESTION_THREAD, chat_id="C0HELP"))
    assert post.receive("message_in_thread") == [True]


@each_row("posted, is_heard", [("1795165999.000100", True), (None, False)])
def test_an_unwatched_reply_counts_in_a_thread_that_was_answered(posted: str | None, is_heard: bool) -> None:
    """A question there opens it again without a mention; what was dismissed stays so."""
    post = Post(watched=False)
    state = post.store.put(a_thread(thread_id=QUESTION_THREAD, chat_id="C0HELP"))
    post.store.put(state.close(Resolution.APPROVED, at=NOW, why="decided", posted_message_id=posted))
    assert post.receive("message_in_thread") == [is_heard]


def test_an_edit_of_a_closed_or_unknown_thread_starts_no_work() -> None:
    """In a watched channel it is journaled, and that is all."""
    post = Post()
    state = post.store.put(a_thread(thread_id=QUESTION_THREAD, chat_id="C0HELP"))
    post.store.put(state.close(Resolution.DISMISSED, at=NOW, why="dismissed"))
    assert post.receive("message_changed_by_edit") == [True]
    post.sort()
    assert post.queued() == []


def test_two_edits_of_one_message_are_two_events_and_a_redelivered_one_is_not() -> None:
    """Each edit has its own event id."""
    post = Post()
    second = payload("message_changed_by_edit")
    second["event_id"] = "Ev-second"
    second["event"]["message"]["text"] = "never mind"
    assert post.receive("message_changed_by_edit", "message_changed_by_edit") == [True, False]
    assert post.watcher.receive(second) is True


def test_a_deletion_and_its_tombstone_are_one_event() -> None:
    """Slack tells of one deletion in two ways."""
    post = Post()
    assert post.receive("message_changed_tombstone", "message_deleted") == [True, False]


def test_one_message_under_two_team_ids_counts_once() -> None:
    """Of a colleague, in a channel shared with a partner; a journal of earlier versions may name the partner's team."""
    post = Post()
    body = with_text("How often do we retry?", user_team="T1")
    assert post.watcher.receive({**body, "team_id": "T9"})
    assert not post.watcher.receive({**body, "team_id": "T1", "event_id": "Ev2"})
    post.sort()
    assert [job.key for job in post.jobs.waiting.values()] == [QUESTION_THREAD]
    post.events.lines[:] = [line.replace('"team_id": "T1"', '"team_id": "T9"') for line in post.events.lines]
    post.restart()
    assert not post.watcher.receive(body)


def test_a_partner_is_ignored_unless_allowed() -> None:
    """Slack Connect messages count only with allow_external."""
    assert Post().receive("slack_connect") == [False]
    assert Post(allow_external=True).receive("slack_connect") == [True]


def test_other_bots_are_ignored_unless_listed() -> None:
    """An alert bot may be listed by bot, user or app id; what it says is an alert."""
    assert Post().receive("bot_message", "message_of_another_app") == [False, False]
    for listed in ("B0ALERT", "A0ALERT"):
        post = Post(allow_bots=[listed])
        assert post.receive("bot_message", "message_of_another_app") == [True, False]
        post.sort()
        assert post.classes() == ["actionable"]
        assert [type(job.work) for job in post.jobs.waiting.values()] == [AlertArrived]
    assert Post(allow_bots=["U0OTHERBOT"]).receive("message_of_another_app") == [True]


def test_the_settings_name_the_tool_of_an_alert_bot() -> None:
    """Most messages name none; the journal has it, and not the alert's text."""
    post = Post(allow_bots={"A0ALERT": "alertmanager"})
    post.receive("bot_message_attachment")
    [record] = post.events.records()
    assert record["alert"]["tool"] == "alertmanager"
    assert record["alert"]["state"] == "firing"
    assert "text" not in record["alert"]


def test_a_listed_bots_message_that_nobody_could_read_is_ignored() -> None:
    """There is nothing to be alarmed about."""
    post = Post(allow_bots=["B0ALERT"])
    assert post.watcher.receive(of_bot("")) is False


def test_every_edit_of_a_listed_bots_message_is_read_again() -> None:
    """In a watched channel, whether its thread is open or not; the same delivery counts once."""
    post = Post(allow_bots=["B0ALERT"])
    first, resolved = of_bot("[FIRING:1] CPU"), of_bot("[RESOLVED] CPU", was="[FIRING:1] CPU")
    assert [post.watcher.receive(body) for body in (first, resolved, resolved)] == [True, True, False]
    post.sort()
    works = [job.work for job in post.jobs.waiting.values()]
    assert [work.event.alert.state for work in works if isinstance(work, AlertArrived)] == ["firing", "resolved"]
    assert post.classes() == ["actionable", "ambient"]
    assert len({work.key for work in works}) == 1


def test_a_deletion_by_a_bot_counts_for_the_question_of_an_open_thread_alone() -> None:
    """Listed or not: that of a repeat withdraws nothing."""
    for listed in ([], ["B0ALERT"]):
        post = Post(allow_bots=listed)
        body = of_bot("", was="[FIRING:1] CPU", subtype="message_deleted")
        assert post.watcher.receive(body) is False
        post.store.put(a_thread(thread_id=QUESTION_THREAD, chat_id="C0HELP"))
        assert post.watcher.receive(body) is True


@each_row("name", ["channel_join", "message_changed_by_unfurl", "own_echo", "own_card_changed", "fields_missing"])
def test_what_is_no_message_of_a_person_leaves_no_trace(name: str) -> None:
    """Joins, unfurls, our own posts and malformed bodies are not journaled and raise nothing."""
    post = Post(allow_bots=["B0BOT"])
    assert post.receive(name) == [False]
    assert post.events.lines == []


def test_chatter_and_thanks_are_journaled_and_not_queued() -> None:
    """Most of what is said deserves no work, and all of it is counted."""
    post = Post()
    for number, text in enumerate(["thanks!", "deploying v2 now", ":tada:"]):
        post.watcher.receive(with_text(text, f"179516520{number}.000100"))
    post.sort()
    assert post.classes() == ["ack", "ambient", "ack"]
    assert post.queued() == []


def test_a_statement_in_a_thread_in_flight_is_queued_as_its_follow_up() -> None:
    """Work under way is a question that waits or runs, or only stands in the queue."""
    post = Post()
    post.receive("message")
    post.watcher.receive(with_text("we use v2", "1795165261.000200", thread_ts="1795165200.000100"))
    post.sort()
    assert post.classes() == ["actionable", "actionable"]
    assert [job.key for job in post.jobs.waiting.values()] == [QUESTION_THREAD, QUESTION_THREAD]
    assert [word.event.content for word in post.follow_ups][1:] == ["we use v2"]


def test_messages_are_queued_in_the_order_they_came() -> None:
    """Whatever the millisecond."""
    post = Post()
    stamps = [f"17951652{number:02d}.000100" for number in range(30)]
    for ts in stamps:
        post.watcher.receive(with_text("Why?", ts))
    post.sort()
    assert [event["message_id"] for event in post.queued()] == stamps


class TestRestart:
    """What a crash leaves is taken up."""

    def test_what_was_journaled_but_not_classified_is_sorted_at_the_next_start(self) -> None:
        """Slack was told that we have it, so it is worked on; what stood before it is not sorted again."""
        post = Post()
        post.receive("message")
        post.watcher.receive(with_text("Who is on call?", "1795165299.000100"))
        post.sort()
        post.classified.lines.pop()
        post.jobs = MemoryJobQueue(post.clock)
        post.restart()
        post.sort()
        assert post.classes() == ["actionable", "actionable"]
        assert [event["content"] for event in post.queued()] == ["Who is on call?"]

    def test_a_redelivery_after_the_restart_is_recognised(self) -> None:
        """Deduplication outlives the process: message, mention copy, client id and deletion alike."""
        post = Post()
        post.receive("message_with_mention", "message_deleted", "message_changed_by_edit")
        post.sort()
        post.restart()
        names = ("message_with_mention", "app_mention", "message_deleted", "message_changed_by_edit")
        assert post.receive(*names) == [False] * 4

    @pytest.mark.parametrize("gone", ["events", "classified"])
    def test_one_journal_of_messages_tells_what_the_other_held(self, gone: str) -> None:
        """Nothing is taken for new, and nothing old is done again."""
        post = Post()
        post.receive("message", "message_with_mention")
        post.watcher.receive(with_text("Who is on call?", "1795999999.000100"))
        post.sort()
        post.store.put(a_thread())
        getattr(post, gone).lines.clear()
        post.jobs = MemoryJobQueue(post.clock)
        post.restart()
        assert post.receive("message", "message_with_mention", "app_mention") == [False] * 3
        post.sort()
        again = ["Who is on call?"] if gone == "classified" else []
        assert [event["content"] for event in post.queued()] == again

    def test_unreadable_lines_in_the_journal_do_not_stop_the_start(self) -> None:
        """Damage costs the damaged line; the events around it are known and sorted."""
        post = Post()
        post.receive("message")
        post.events.lines += ["{", "[]", '{"team_id": 5}', '{"message_id": "1.2"}']
        post.receive("message_in_thread")
        post.restart()
        assert post.receive("message", "message_in_thread") == [False, False]
        post.sort()
        assert len(post.classified.lines) == 2


class TestDisk:
    """A disk that refuses loses nothing."""

    def test_a_message_that_cannot_be_journaled_is_an_error_and_not_remembered(self) -> None:
        """Slack must not hear that we have it; when it delivers again the message counts."""
        post = Post()
        post.events.full = True
        with pytest.raises(StoreError):
            post.receive("message")
        post.events.full = False
        assert post.receive("message") == [True]
        post.sort()
        assert len(post.queued()) == 1

    def test_a_message_that_cannot_be_queued_waits_in_its_journal(self) -> None:
        """Slack is told that we have it; this process takes it up again, or the next."""
        for restarts in (False, True):
            post = Post()
            post.jobs.full = True
            assert post.receive("message") == [True]
            with pytest.raises(StoreError):
                post.sort()
            assert post.classified.lines == []
            if restarts:
                post.restart()
            post.jobs.full = False
            post.sort()
            assert (len(post.queued()), len(post.classified.lines)) == (1, 1)

    def test_the_queue_has_a_message_once_however_often_the_journal_refuses_it_after_that(self) -> None:
        """Ten refusals are one job."""
        post = Post()
        post.classified.full = True
        post.receive("message")
        for _ in range(10):
            with pytest.raises(StoreError):
                post.sort()
        post.classified.full = False
        post.watcher.receive(with_text("Who is on call?", "1795165299.000100"))
        post.sort()
        assert (len(post.queued()), len(post.classified.lines)) == (2, 2)

    def test_what_waits_is_not_passed_over(self) -> None:
        """A later message sorted first would make the next start believe that the waiting one was sorted, too."""
        post = Post()

        class RefusesOne(MemoryJobQueue):
            def put(self, work: Work) -> Job:
                if work.key == QUESTION_THREAD:
                    raise StoreError("cannot write the job: No space left on device")
                return super().put(work)

        healthy, post.jobs = post.jobs, RefusesOne(post.clock)
        post.restart()
        post.receive("message")
        post.watcher.receive(with_text("Who is on call?", "1795165299.000100"))
        post.jobs = healthy
        post.restart()
        post.sort()
        assert [thread_key_of(event) for event in post.queued()] == [QUESTION_THREAD, "T1.C0HELP.1795165299.000100"]


def thread_key_of(record: dict[str, Any]) -> str:
    return thread_key(Event.model_validate(record))

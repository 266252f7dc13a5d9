"""A restored backup, a second process, a post that Slack never read, a job that is deadly: counted at Slack's end."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from blocks import ids
from demo.headless import Element, find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, BEN, HELP, OPS
from tests.crashes.life import Life
from tests.crashes.moments import before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import POSTED, RUN_ENDED
from tests.gitrepo import make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import RETRIES, SESSIONS, SHOP

NewLife = Callable[[str], Life]


@pytest.fixture
def new_life(slack: LocalSlack, control: Control, tmp_path: Path) -> Iterator[NewLife]:
    """A maker of bots on one codebase and one Slack app, each with a data directory of its own."""
    shop = make_repo(tmp_path / "shop", SHOP)
    lives: list[Life] = []
    with withholding_proxy(slack.api_url) as proxy:

        def make(name: str) -> Life:
            config = write_config(tmp_path / name / "home", shop)
            lives.append(Life(slack, control, proxy, config, log=tmp_path / name / "bot.log"))
            return lives[-1]

        yield make
        for life in lives:
            life.end()


@pytest.fixture
def life(new_life: NewLife) -> Life:
    """One bot."""
    return new_life("one")


def backup(life: Life) -> Path:
    """Copy the data directory as it is, under a bot that goes on writing: what goes meanwhile is passed over."""

    def copy_file(source: str, target: str) -> str:
        with suppress(FileNotFoundError):
            shutil.copy2(source, target)
        return target

    copy = life.home.with_name("backup")
    shutil.copytree(life.home, copy, copy_function=copy_file)
    return copy


def restore(life: Life, copy: Path) -> None:
    """Put a copy in the place of the data directory."""
    shutil.rmtree(life.home)
    shutil.copytree(copy, life.home)


def answered_once(life: Life) -> None:
    """Check what stands at Slack's end and on record."""
    left = life.left()
    assert (left["cards"], left["replies"], left["logged"], left["archived"]) == (1, 1, 1, 1)
    assert (left["offered"], left["jobs"], left["corrupt"]) == (False, 0, [])
    assert life.archived()[0]["posted_message_id"] == life.replies()[0]["ts"]


def test_a_backup_made_while_a_card_waited_posts_nothing_again(life: Life, control: Control) -> None:
    """Approved, killed, put back: the reply is found and adopted, and the card offers nothing."""
    life.start()
    life.ask(SESSIONS)
    control.wait_for(life.offer, "the draft")
    copy = backup(life)
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.bury()
    restore(life, copy)
    life.start()
    life.carry_on(life.is_settled, "the reply to be adopted", decision="none")
    life.stop()
    answered_once(life)


@pytest.mark.full
def test_a_backup_from_before_the_question_makes_no_second_card(life: Life, control: Control) -> None:
    """The question is read back from the channel; its card is adopted, and so is its reply."""
    life.start()
    first = life.beside(RETRIES)
    first.carry_on(first.is_settled, "the first to be settled", decision="approve")
    copy = backup(life)
    life.ask(SESSIONS)
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.bury()
    restore(life, copy)
    life.start()
    life.carry_on(life.is_settled, "the thread to be settled again", decision="approve")
    life.stop()
    assert [(len(each.cards()), len(each.replies()), len(each.archived())) for each in (first, life)] == [(1, 1, 1)] * 2
    assert life.left()["logged"] == 2


@pytest.mark.full
def test_a_backup_from_before_a_waiting_card_adopts_it(life: Life, control: Control) -> None:
    """Nobody has decided yet: the one card goes on, with one decision and one reply."""
    life.start()
    first = life.beside(RETRIES)
    first.carry_on(first.is_settled, "the first to be settled", decision="approve")
    copy = backup(life)
    life.ask(SESSIONS)
    control.wait_for(life.offer, "the draft")
    life.bury()
    restore(life, copy)
    life.start()
    control.wait_for(lambda: life.left()["version"] == 1, "the question to be read back")
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.stop()
    assert (len(life.cards()), len(life.replies()), len(life.archived())) == (1, 1, 1)


@pytest.mark.full
def test_a_question_asked_again_after_a_restore_gets_its_own_reply(life: Life, control: Control) -> None:
    """The adopted reply belongs to the first question of the thread alone."""
    life.start()
    life.ask(SESSIONS)
    control.wait_for(life.offer, "the draft")
    copy = backup(life)
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.bury()
    restore(life, copy)
    life.start()
    life.carry_on(life.is_settled, "the reply to be adopted", decision="none")
    control.say(HELP.channel_id, BEN.user_id, RETRIES, life.ts)
    life.carry_on(lambda: len(life.replies()) == 2, "the second reply", decision="approve")
    life.carry_on(lambda: len(life.archived()) == 2, "both to be archived", decision="none")
    life.stop()
    assert life.left()["logged"] == 2


@pytest.mark.full
def test_two_bots_on_one_app_answer_each_question_once(new_life: NewLife, control: Control) -> None:
    """Each with its own data directory, both started again: one card, one reply for each question."""
    one, two = new_life("one"), new_life("two")
    one.start()
    two.launch()
    control.wait_for(lambda: "Slack counts 2 connections of this app" in two.log, "the second to connect")
    threads = [one.beside(f"{text} ({n})") for n in range(2) for text in (SESSIONS, RETRIES)]
    for thread in threads:
        thread.carry_on(lambda thread=thread: bool(thread.replies()), "a reply", decision="approve")
    for bot in (one, two):
        bot.end()
    one.start()
    two.launch()
    for thread in threads:
        control.wait_for(lambda thread=thread: thread.offer() is None, "no card to be offered")
    settled = [(1, 1)] * len(threads)  # Slack gives an event to one of the two; local-slack gives it to both at once
    control.wait_for(lambda: [(len(t.cards()), len(t.replies())) for t in threads] == settled, "one each")


@pytest.mark.full
def test_a_post_that_slack_never_read_is_made_by_the_running_bot(life: Life) -> None:
    """Cut before Slack read it: nobody clicks again, nobody restarts."""
    life.start()
    life.ask(SESSIONS)
    life.proxy.cut(POSTED)
    life.carry_on(lambda: life.left()["intent"], "the intent", decision="approve")
    life.carry_on(life.is_settled, "the reply", decision="none")
    life.stop()
    answered_once(life)


@pytest.mark.full
def test_a_post_that_slack_never_read_is_not_made_after_somebody_answered(life: Life, control: Control) -> None:
    """Killed at once; a human answers; the next start gives the card back, and it can be dismissed."""
    life.start()
    life.ask(SESSIONS)
    life.proxy.cut(POSTED)
    life.carry_on(lambda: life.left()["intent"], "the intent", decision="approve")
    life.bury()
    control.say(HELP.channel_id, BEN.user_id, "It is HMAC-SHA256.", life.ts)
    life.start()
    control.wait_for(lambda: not life.left()["intent"], "the card to be given back")
    control.wait_for(
        lambda: (card := life.offer()) is not None and "was not posted" in shown_text(card),
        "the card to say so",
        channel=OPS.channel_id,
    )
    assert life.replies() == []
    life.carry_on(life.is_settled, "the thread to be settled", decision="dismiss")
    life.stop()
    assert (len(life.cards()), life.replies()) == (1, [])


@pytest.mark.full
def test_a_question_whose_job_dies_three_times_keeps_its_card(life: Life, control: Control) -> None:
    """Killed in the midst of the same investigation: the card says so, and Re-investigate answers the question."""
    for death in range(3):
        life.start(before(RUN_ENDED))
        if death == 0:
            life.ask(SESSIONS)
        life.carry_on(lambda: life.is_dead, "the bot to die", decision="none")
    life.start()
    button = control.wait_for(lambda: _reinvestigate(life), "the card to offer it")
    [card] = life.cards()
    assert "could not be investigated" in shown_text(card)
    control.click(OPS.channel_id, card["ts"], ANA.user_id, **button.click_fields())
    life.carry_on(life.is_settled, "the thread to be settled", decision="approve")
    life.stop()
    answered_once(life)
    assert not list((life.home / "queue" / "failed").iterdir())


def _reinvestigate(life: Life) -> Element | None:
    cards = life.cards()
    return find_element(cards[0], ids.REINVESTIGATE) if cards else None

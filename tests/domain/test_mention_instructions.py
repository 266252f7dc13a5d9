"""Which mentions are an instruction, and which are questions that must not be lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.mention_instructions import InstructionKind, read_instruction
from tests.tables import each_row

LOOKS = [
    "look into this",
    "can you look into this please?",
    "any idea?",
    "please answer <@U1>",
    "👀",
    "?",
    "try again",
    "<@U2> <!subteam^S1|@oncall> can you look into this?",
    "kannst du dir das bitte mal ansehen?",
    "¿Puedes mirar esto, por favor?",
    "pode verificar isso?",
    "tu peux jeter un œil à ça stp ?",
    "tolong cek ini",
    "これを見てください",
    "请看一下这个问题",
]
COMMANDS = {
    "status": "status",
    "please pause": "pause",
    "stop": "pause",
    "/triage status": "status",
    "help tiers": "help tiers",
    "stop it": "pause",
    "/triage": "help",
    "heartbeat": "heartbeat",
    "heartbeat list": "heartbeat list",
}
QUESTIONS = [
    "why does the retry fail?",
    "look into this: why do webhooks time out?",
    "also check the retry path",
    "status of the payment service?",
    "investigate How often do we retry a webhook?",
    "heartbeat on shop is failing, why?",
    "pause between two retries?",
    "stauts",
    "brief me on the incident",
    "send the email?",
    "look at <https://git.example/pull/1|PR 1>",
    "heartbeat log location",
    "wie oft wiederholen wir einen Webhook?",
    "リトライの上限を調べてください",
    "看一下重试的代码",
    "can you look into this?\n> Ann:\n> It fails",
    "> It fails",
    "can you look into this?\n```\nKeyError\n```",
    "look into this" + " " * 800 + "retry path",
    "x" * 500,
]


def kind(words: str) -> InstructionKind:
    return read_instruction(f"<@U0BOT> {words}", "U0BOT").kind


@each_row("words", LOOKS)
def test_what_points_upwards_is_about_the_thread(words: str) -> None:
    """Before the mention, after it, and in the middle."""
    assert kind(words) is InstructionKind.LOOK
    assert read_instruction(f"{words} <@U0BOT>", "U0BOT").kind is InstructionKind.LOOK
    assert read_instruction(f"hey <@U0BOT|triage> {words}", "U0BOT").kind is InstructionKind.LOOK


@each_row("words, command", COMMANDS.items())
def test_a_command_typed_as_a_mention_is_known(words: str, command: str) -> None:
    """With what to type instead."""
    read = read_instruction(f"<@U0BOT> {words}", "U0BOT")
    assert (read.kind, read.command) == (InstructionKind.COMMAND, command)


@each_row("words", QUESTIONS)
def test_what_has_words_of_its_own_stays_a_question(words: str) -> None:
    """A question taken for an instruction would be lost."""
    assert kind(words) is InstructionKind.QUESTION


@each_row("words", ["", "  ", "hi", "hello!", "hey, please", "🎉", "…", "cc <@U2>"])
def test_a_name_alone_is_bare(words: str) -> None:
    """A greeting says nothing either."""
    assert kind(words) is InstructionKind.BARE


@each_row(
    "words",
    [
        "approve",
        "lgtm",
        "post it!",
        "can you approve this?",
        "gib das frei",
        "aprobado",
        "批准",
    ],
)
def test_a_decision_is_no_instruction(words: str) -> None:
    """Only buttons decide."""
    assert kind(words) is InstructionKind.DECISION


@given(words=st.text(max_size=300))
def test_any_words_are_read_at_once(words: str) -> None:
    """Whatever they are; what ends in a question word and a mark is never taken for a command."""
    assert kind(words) in InstructionKind
    assert kind(f"{words} how often do we retry?") is InstructionKind.QUESTION


@each_row("words", [":-" * 90 + "x", ":+-1" * 45 + "x", "thanks:a:-" * 18 + "x"])
def test_signs_that_may_be_pictures_are_read_at_once(words: str) -> None:
    """One message must not keep the whole bot busy for ever."""
    assert kind(words) is InstructionKind.QUESTION

"""What a beat's last words mean; every example of the contract, and ways to hide an alert behind the token."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain.ack import Ack, read_ack
from tests.tables import each_row

OK = "HEARTBEAT_OK"


@each_row(
    "said, kind, text",
    [
        ("**HEARTBEAT_OK**", "ok-token", ""),
        ("All clear. HEARTBEAT_OK", "ok-token", "All clear."),
        ("HEARTBEAT_OK\n\nBuild is red on main.", "alert", "Build is red on main."),
        ("status HEARTBEAT_OK due to x", "alert", "status HEARTBEAT_OK due to x"),
        ("HEARTBEAT_OKAY", "alert", "HEARTBEAT_OKAY"),
        ("HEARTBEAT_OK 🦞", "ok-token", "🦞"),
    ],
)
def test_the_examples_of_the_contract_hold(said: str, kind: str, text: str) -> None:
    """`OK` at an end with a short remark beside it, and everything else."""
    assert read_ack(said) == Ack(kind, text)  # type: ignore[arg-type]


def test_with_no_room_for_a_remark_any_remark_is_an_alert() -> None:
    """`max_chars=0`; the token alone is still an OK."""
    assert read_ack("HEARTBEAT_OK 🦞", max_chars=0) == Ack("alert", "🦞")
    assert read_ack("HEARTBEAT_OK.", max_chars=0) == Ack("ok-token", "")


@each_row("said", [None, "", "  \n\t\r\n ", "\u3000"])
def test_nothing_said_is_ok_and_empty(said: str | None) -> None:
    """As opposed to the token."""
    assert read_ack(said) == Ack("ok-empty", "")


@each_row(
    "said",
    [
        *(
            "HEARTBEAT_OK",
            " HEARTBEAT_OK\n",
            "*HEARTBEAT_OK*",
            "__HEARTBEAT_OK__",
            "`HEARTBEAT_OK`",
            "~~HEARTBEAT_OK~~",
        ),
        *("```\nHEARTBEAT_OK\n```", "```text\nHEARTBEAT_OK\n```", "> HEARTBEAT_OK", "# HEARTBEAT_OK", "- HEARTBEAT_OK"),
        *("<b>HEARTBEAT_OK</b>", "<p><strong>HEARTBEAT_OK</strong></p>\n", "<!-- HEARTBEAT_OK -->", '"HEARTBEAT_OK"'),
        *("HEARTBEAT_OK.", "HEARTBEAT_OK!!!", "HEARTBEAT_OK…", "HEARTBEAT_OK。", "(HEARTBEAT_OK)", "**HEARTBEAT_OK.**"),
        *("HEARTBEAT_OK---", "---HEARTBEAT_OK---", "HEARTBEAT_OK ===", "---\nHEARTBEAT_OK\n---", "HEARTBEAT_OK –"),
        *("<b>HEARTBEAT_OK</b>&nbsp;", "&nbsp;HEARTBEAT_OK"),
        *("HEARTBEAT_OK\nHEARTBEAT_OK", "HEARTBEAT_OK HEARTBEAT_OK.", '<span class="x">HEARTBEAT_OK</span>.'),
    ],
)
def test_a_token_may_be_wrapped_in_markup_and_punctuation(said: str) -> None:
    """Nothing is left of what was wrapped around it."""
    assert read_ack(said, max_chars=0) == Ack("ok-token", "")


@each_row(
    "said",
    [
        *("heartbeat_ok", "Heartbeat_OK", "HEARTBEAT OK", "HEARTBEAT_OK_NOT", "NOT_HEARTBEAT_OK", "xHEARTBEAT_OK"),
        *("HEARTBEAT_OK1", "HEARTBEAT_OKÄ", "HEARTBEAT_OK.md is new", "src/HEARTBEAT_OK", "HEARTBEAT_OK-ish", "fine"),
        *("a HEARTBEAT_OK b", "I would say HEARTBEAT_OK, but look", "the **HEARTBEAT_OK** token", "NOT-HEARTBEAT_OK"),
    ],
)
def test_what_is_not_the_token_at_an_edge_is_an_alert_word_for_word(said: str) -> None:
    """Another case, a longer word, or the middle of a sentence."""
    assert read_ack(f" {said}\n") == Ack("alert", said)


@each_row(
    "said, text",
    [
        ("All quiet.\n\nHEARTBEAT_OK", "All quiet."),
        ("HEARTBEAT_OK\r\n\r\nTwo PRs wait.", "Two PRs wait."),
        ("**HEARTBEAT_OK**.\n\n**Two** PRs wait.", "**Two** PRs wait."),
        ("<p>HEARTBEAT_OK</p><p>Two PRs wait.</p>", "<p>Two PRs wait.</p>"),
        ("<p>Two PRs wait.</p><p>HEARTBEAT_OK</p>", "<p>Two PRs wait.</p>"),
        ("HEARTBEAT_OK All quiet.\n\nTwo PRs wait.", "All quiet.\n\nTwo PRs wait."),
        ("```\nHEARTBEAT_OK\n```\n\nTwo PRs wait.", "Two PRs wait."),
        ("HEARTBEAT_OK\u2028Two PRs wait.", "Two PRs wait."),
        ("HEARTBEAT_OK\x85Two PRs wait.", "Two PRs wait."),
        ("HEARTBEAT_OK\n---\nTwo PRs wait.", "---\nTwo PRs wait."),
    ],
)
def test_a_remark_in_a_paragraph_of_its_own_is_an_alert(said: str, text: str) -> None:
    """Somebody meant it to be read; before the token or after it."""
    assert read_ack(said) == Ack("alert", text)


def test_a_remark_in_the_same_paragraph_is_none_and_keeps_its_lines() -> None:
    """One line end is no paragraph."""
    assert read_ack("All quiet.\nTwo PRs wait.\nHEARTBEAT_OK") == Ack("ok-token", "All quiet.\nTwo PRs wait.")
    assert read_ack("All quiet.\r\nAll well.\r\nHEARTBEAT_OK") == Ack("ok-token", "All quiet.\r\nAll well.")
    assert read_ack("HEARTBEAT_OK\nAll quiet.") == Ack("ok-token", "All quiet.")


@each_row("chars", [299, 300, 301])
def test_a_remark_is_short_up_to_and_including_the_limit(chars: int) -> None:
    """300 characters by default."""
    assert read_ack(f"{OK} {'x' * chars}").kind == ("alert" if chars > 300 else "ok-token")
    assert read_ack(f"{'x' * chars} {OK}").kind == ("alert" if chars > 300 else "ok-token")


def test_words_decide_nothing() -> None:
    """What somebody must read is a finding; what was said beside the token stands in the brief."""
    assert read_ack(f"3 urgent emails. {OK}") == Ack("ok-token", "3 urgent emails.")
    assert read_ack(f"{OK} production is down") == Ack("ok-token", "production is down")


@each_row(
    "said, ack",
    [
        ("<think>Let me look.\n\nAll quiet.</think>\nHEARTBEAT_OK", Ack("ok-token", "")),
        ("<THINK>a</THINK>\n\n<thinking>\nb\n</thinking>\n\n**HEARTBEAT_OK** fine", Ack("ok-token", "fine")),
        ("<think>HEARTBEAT_OK</think>\n\nMain is red.", Ack("alert", "Main is red.")),
        ("<think>Main is red.</think>", Ack("ok-empty", "")),
        ("<think>", Ack("ok-empty", "")),
        ("<think>Main is red.\n\nHEARTBEAT_OK", Ack("alert", "<think>Main is red.")),
    ],
)
def test_what_was_thought_aloud_is_no_part_of_the_answer(said: str, ack: Ack) -> None:
    """Over any number of lines; a block that never ends is text."""
    assert read_ack(said) == ack


@each_row("part", ["<think>", "<think></think>", "<think>x</thinking>", "\n", "<b>", "<a ", "`", "HEARTBEAT_OK "])
def test_200_kb_of_hostile_text_take_a_moment(part: str) -> None:
    """Before the token, after it, or without any; quadratic time would be minutes."""
    said = part * (200_000 // len(part))
    for text in (said, said + OK, OK + said):
        assert read_ack(text).text in text


def test_another_token_may_be_chosen() -> None:
    """One with signs that mean something elsewhere, too."""
    assert read_ack("[ok+](x)", token="[ok+](x)") == Ack("ok-token", "")
    assert read_ack(OK, token="ALL_WELL") == Ack("alert", OK)


@given(st.text("HEARTBEAT_OK \n.*<>`-x", max_size=60) | st.text(), st.integers(0, 50))
def test_nothing_is_swallowed_that_was_not_short(said: str, max_chars: int) -> None:
    """Property: the text is what was said without tokens at its edges; an OK never holds more than the limit."""
    ack = read_ack(said, max_chars=max_chars)
    assert ack.text in said
    assert ack.text == ack.text.strip()
    if ack.kind == "ok-token":
        assert OK in said
        assert len(ack.text) <= max_chars
    if OK not in said:
        assert ack == (Ack("alert", said.strip()) if said.strip() else Ack("ok-empty", ""))

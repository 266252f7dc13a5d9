"""The pipe: what goes in comes out, tagged, in order; what is no event is named."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.classify import pump, rules_for
from bot.domain.events import Classification, Event
from bot.errors import ConfigError
from bot.intake.classifier import Rules, classify
from tests.tables import each_row

COMMAND = [sys.executable, "-m", "bot", "classify"]
RULES = Rules(bot_id="U0TRIAGE")


def event(content: str = "hello there", **fields: Any) -> dict[str, Any]:
    base = {"team_id": "T1", "chat_id": "C1", "message_id": "1700000000.000100", "create_time": "2025-01-01T00:00:00Z"}
    return {**base, "content": content, "sender": {"id": "U9", "type": "user"}, **fields}


def pipe(*lines: dict[str, Any] | bytes, rules: Rules = RULES) -> tuple[list[dict[str, Any]], list[str]]:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    out, problems = io.BytesIO(), io.StringIO()
    pump(io.BytesIO(b"\n".join(raw)), out, problems, rules)
    return [json.loads(line) for line in out.getvalue().splitlines()], problems.getvalue().splitlines()


def test_every_key_and_the_order_survive() -> None:
    """Lines keep their order and all their keys, unknown ones too; the fields of a Classification are added."""
    lines = [event(f"line {number}", extra={"deep": [number, 1.50, "ü"]}) for number in range(50)]
    tagged, _ = pipe(*lines)
    assert [{key: record[key] for key in line} for line, record in zip(lines, tagged, strict=True)] == lines
    assert all(
        set(record) - set(line) == set(Classification.model_fields) for line, record in zip(lines, tagged, strict=True)
    )


@given(st.text(max_size=80), st.text(max_size=20), st.sampled_from(["text", "edit", "thread_reply"]))
def test_the_pipe_says_what_classify_says(content: str, extra: str, kind: str) -> None:
    """A line's fields are those of `classify` on the same event, stamped with the time it was read."""
    line = event(content.encode(errors="ignore").decode(), msg_type=kind, extra=extra.encode(errors="ignore").decode())
    before = datetime.now(UTC)
    [record], _ = pipe(line)
    found = Classification.model_validate(record)
    assert found.classified_at is not None
    assert before <= found.classified_at <= datetime.now(UTC)
    expected = classify(Event.model_validate(line), RULES, inflight=False)
    assert found.model_copy(update={"classified_at": None}) == expected
    assert record["extra"] == line["extra"]


def test_lines_that_are_no_events_are_named_and_skipped() -> None:
    """Each bad line is named by number and reason, on one line each; blank lines are neither events nor bad."""
    bad = [b"{", b"  {]", b"caf\xff", b'{"a": "\xff"}', json.dumps(event())[:-30].encode(), b"{}", b'{"a":' * 100_000]
    tagged, problems = pipe(event(), *bad, b"", b"  \r", event(message_id="2.2"))
    assert [record["message_id"] for record in tagged] == ["1700000000.000100", "2.2"]
    assert [problem.split(":")[0] for problem in problems[:-1]] == [f"line {number}" for number in range(2, 9)]
    assert problems[2:4] == ["line 4: not UTF-8 at byte 4", "line 5: not UTF-8 at byte 8"]
    assert problems[5] == "line 7: team_id: Field required (and 4 more)"
    assert problems[-1] == "2 events: 0 actionable (0%), 0 ack (0%), 2 ambient (100%); 7 bad lines"


def test_plain_lines_are_messages_among_events() -> None:
    """Each is a root message of its own, and what comes out goes in again."""
    tagged, problems = pipe(b"is prod down?", event("hello there"), b"  thanks! \r", b"[1]", b"<@U0TRIAGE> look")
    assert [record["content"] for record in tagged] == [
        "is prod down?",
        "hello there",
        "thanks!",
        "[1]",
        "<@U0TRIAGE> look",
    ]
    found = [record["classification"] for record in tagged]
    assert found == ["actionable", "ambient", "ack", "ambient", "actionable"]
    assert len({record["message_id"] for record in tagged}) == 5
    assert not any(record["mentions_thread_with_inflight"] for record in tagged)
    assert problems == ["5 events: 2 actionable (40%), 1 ack (20%), 2 ambient (40%); 0 bad lines"]
    assert [record["classification"] for record in pipe(*tagged)[0]] == found


@each_row("wrong", [{"content": None}, {"sender": "U9"}, {"create_time": "noon"}, {"msg_type": "song"}])
def test_a_wrong_shape_names_its_key(wrong: dict[str, Any]) -> None:
    """An object with a field of the wrong kind is a bad line whose reason begins with the key."""
    tagged, problems = pipe(event(**wrong))
    assert tagged == []
    assert problems[0].startswith(f"line 1: {next(iter(wrong))}: ")


def test_a_thread_is_in_flight_after_an_actionable_event() -> None:
    """Replies after an actionable event of their thread are actionable; earlier ones and other channels' are not."""
    reply = {"thread_id": "1700000000.000100", "msg_type": "thread_reply"}
    tagged, _ = pipe(
        event("early", message_id="1.1", **reply),
        event("why is it red?"),
        event("more details: arm only", message_id="1.2", **reply),
        event("thanks!", message_id="1.3", **reply),
        event("elsewhere", message_id="1.4", chat_id="C2", **reply),
        event("why is it green?", msg_type="edit"),
    )
    assert [record["mentions_thread_with_inflight"] for record in tagged] == [False, False, True, True, False, True]
    found = [record["classification"] for record in tagged]
    assert found == ["ambient", "actionable", "actionable", "ack", "ambient", "ambient"]


def test_classifying_twice_replaces_the_fields() -> None:
    """A line that was classified before has every field once, anew, and keeps the keys it had."""
    [once], _ = pipe(event("is it up?", is_odd=1))
    line = json.dumps({**once, "classification": "ack", "is_question": "?"}).encode()
    out = io.BytesIO()
    pump(io.BytesIO(line), out, io.StringIO(), RULES)
    assert out.getvalue().count(b'"is_question"') == out.getvalue().count(b'"classification"') == 1
    assert {**json.loads(out.getvalue()), "classified_at": 0} == {**once, "classified_at": 0}


def test_odd_line_ends_and_a_byte_order_mark_are_read() -> None:
    """CRLF, a byte order mark, a missing last newline, separators inside a text: all are ordinary lines."""
    line = json.dumps(event("a\u2028b"), ensure_ascii=False).encode()
    tagged, problems = pipe(b"\xef\xbb\xbf" + line + b" \r", line)
    assert [record["content"] for record in tagged] == ["a\u2028b"] * 2
    assert problems[-1].endswith("0 bad lines")


def test_a_config_file_adds_words_and_the_option_wins(tmp_path: Path) -> None:
    """`--config` reads the classifier block; `--bot-id` overrides the file's; a wrong block is a ConfigError."""
    config = tmp_path / "triage.yml"
    config.write_text("classifier: {bot_id: U1, question_keywords: [eta for], skip_chatter: true}\n")
    rules = rules_for(None, config)
    assert (rules.bot_id, rules.question_keywords, rules.skip_chatter) == ("U1", ("eta for",), True)
    assert rules_for("U2", config).bot_id == "U2"
    config.write_text("classifier: {colour: red}\n")
    with pytest.raises(ConfigError, match="colour"):
        rules_for(None, config)


def test_the_command_answers_before_its_input_ends() -> None:
    """Under `tail -f` each line is answered as it comes."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        for number in range(3):
            process.stdin.write(json.dumps(event(message_id=f"{number}.0")).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["message_id"] == f"{number}.0"
        process.stdin.close()
        assert process.stderr.read().startswith(b"3 events")
    assert process.returncode == 0


def test_a_reader_that_leaves_ends_it_quietly() -> None:
    """`| head -1` gets its line; there is no traceback and the exit code is 0."""
    line = json.dumps(event()).encode() + b"\n"
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(line)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(line * 5000)
        assert process.stderr.read() == b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    assert process.returncode == 0


@each_row("lines, code", [("{\n\n{}\n", 1), ("{\n" + json.dumps(event()) + "\n", 0)])
def test_input_without_one_event_is_an_error(lines: str, code: int) -> None:
    """Another file was meant; single bad lines are not."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", "classify"], input=lines, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == code
    assert "bad line" in done.stderr


def test_why_names_the_rule_or_the_weightiest_ngrams() -> None:
    """A rule alone where it is certain; else the probability, the threshold and five n-grams, once on each line."""
    lines = [event("thanks!"), event("I keep getting an error when the worker starts", why="asked before")]
    out = io.BytesIO()
    pump(io.BytesIO("\n".join(map(json.dumps, lines)).encode()), out, io.StringIO(), RULES, explains=True)
    ack, scored = (json.loads(line)["why"] for line in out.getvalue().splitlines())
    assert ack == {"rule": "ack"}
    assert (scored["rule"], len(scored["ngrams"])) == ("question", 5)
    assert scored["probability"] >= scored["threshold"]
    assert set(scored["ngrams"][0]) == {"ngram", "weight"}


def test_nothing_is_loaded_that_a_pipe_does_not_need() -> None:
    """Importing the bot takes as long as classifying thousands of messages."""
    code = (
        "import sys; from bot.__main__ import main; main(['classify']);"
        "print(sorted({'bot.composition', 'slack_sdk', 'anthropic'} & set(sys.modules)))"
    )
    line = json.dumps(event("is prod down?")).encode() + b"\nis prod down?"
    done = subprocess.run([sys.executable, "-c", code], input=line, capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"

"""Keys of triage.yml in snake_case and camelCase; ids stay as they are, and problems name the key as it was typed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from bot.config.settings import Settings, load_classifier, load_settings
from bot.config.written_keys import block_of, kind_below, snake_case
from bot.errors import ConfigError
from tests.tables import each_row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a codebase in it."""
    (tmp_path / "shop").mkdir()
    return tmp_path


def load(folder: Path, text: str) -> Settings:
    (folder / "triage.yml").write_text(text)
    return load_settings(folder / "triage.yml")


def fields(kind: Any) -> Iterator[str]:
    """Yield the key of every block in a kind of value."""
    if block := block_of(kind):
        for name in block.model_fields:
            yield name
            yield from fields(kind_below(block, name))
    elif (below := kind_below(kind, "id")) is not kind and below is not None:
        yield from fields(below)


def test_every_key_of_the_settings_is_found_by_its_camel_case() -> None:
    names = set(fields(Settings))
    assert {"active_hours", "chat_id", "cache_read", "hard_cap_runtime_min", "allow_tracked_playbook"} <= names
    assert {name: snake_case(to_camel(name)) for name in names} == {name: name for name in names}


PASTED = """
codebase: shop
opsChannel: C0OPS
watchedChats: [{chatId: C0A, name: help}]
watcher: {mentionsAnywhere: false}
remindAfter: 2h
heartbeat:
  activeHours: &hours {start: "09:00", end: "17:00", timezone: UTC}
  ackMaxChars: 30
  dedupeWindow: 6h
  heartbeatModel: cheap-model
  dailyBudgetUSD: 2
  visibility: {showOk: true}
sessions:
  myShop: {cwd: shop, heartbeat: {activeHours: *hours, heartbeatModel: ""}}
"""


def test_a_pasted_block_works(folder: Path) -> None:
    """In every block, below lists and aliases too; a session inherits as ever."""
    settings = load(folder, PASTED.replace("myShop", "my-shop"))
    assert (settings.ops_channel, settings.watched_chats[0].chat_id) == ("C0OPS", "C0A")
    assert (settings.watcher.mentions_anywhere, settings.remind_after) == (False, timedelta(hours=2))
    beat = settings.sessions["my-shop"].heartbeat
    assert (beat.active_hours.start, beat.ack_max_chars, beat.dedupe_window) == ("09:00", 30, timedelta(hours=6))
    assert (beat.heartbeat_model, beat.daily_budget_usd, beat.visibility.show_ok) == ("", 2, True)


def test_ids_stay_as_they_are(folder: Path) -> None:
    """A model's id, a header and an alert bot look like camelCase; a session's id may not."""
    settings = load(
        folder,
        """
codebase: shop
ops_channel: C0OPS
pricing: {myModel: {input: 1, output: 2, cacheRead: 0}}
mcpServers: {logs: {url: "https://x.example", headers: {xApiKey: "${KEY}"}}}
watcher: {allow_bots: {aBot: grafana}}
""",
    )
    assert settings.pricing["myModel"].cache_read == 0
    assert list(settings.mcp_servers["logs"].headers) == ["xApiKey"]
    assert list(settings.watcher.allow_bots) == ["aBot"]
    with pytest.raises(ConfigError, match=r"^sessions\.myShop(\.\[key\])?: .*not a session id"):
        load(folder, PASTED)


@each_row(
    "text, problem",
    [
        ("heartbeat:\n  ackMaxChar: 3\n", "heartbeat.ackMaxChar: unknown key; did you mean ack_max_chars? (line 4)"),
        ("heartbeat: {ack_max_char: 3}\n", "heartbeat.ack_max_char: unknown key; did you mean ack_max_chars? (line 3)"),
        ("heartbeat: {ackMaxChars: -1}\n", "heartbeat.ackMaxChars: must be at least 0 (it is '-1') (line 3)"),
        ("watchedChats:\n- name: x\n", "watchedChats.0.chat_id: is required; see triage.example.yml (line 3)"),
        (
            "codebases: {api: {path: shop}}\n",
            "codebase: `codebases` is there too; move this one into it, such as codebases: {shop: {path: ~/src/shop}}"
            " (line 1)",
        ),
    ],
)
def test_a_problem_names_the_key_as_typed_and_its_line(folder: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(folder, f"codebase: shop\nops_channel: C0OPS\n{text}")
    assert refused.value.problems == (problem,)


def test_a_key_in_both_spellings_is_refused(folder: Path) -> None:
    text = "heartbeat:\n  active_hours: {start: '09:00'}\n  activeHours: {end: '17:00'}\n"
    with pytest.raises(ConfigError, match=r"at line 5.*'active_hours' stood at line 4 already; keep one of the two"):
        load(folder, f"codebase: shop\nops_channel: C0OPS\n{text}")


def test_a_removed_key_is_known_in_camel_case(folder: Path) -> None:
    settings = load(folder, "codebase: shop\nops_channel: C0OPS\nheartbeat: {suggestionsPerDay: 9}\n")
    [said] = settings.removed_keys
    assert said.startswith("triage.yml, line 3: heartbeat.suggestionsPerDay was removed: ")


def test_the_classifier_alone_is_read_in_camel_case(folder: Path) -> None:
    (folder / "triage.yml").write_text("classifier: {questionKeywords: [anyone]}\n")
    assert load_classifier(folder / "triage.yml").question_keywords == ("anyone",)

"""Every setting of triage.yml: what is written is what the settings hold, and there are at most a hundred of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from bot.config.settings import Settings, load_settings
from bot.config.team_settings import INHERITED
from bot.config.written_keys import block_of, kind_below
from tests.tables import each_row

ROOT: Final = Path(__file__).parents[2]
IDS: Final = {"codebases": "shop", "teams": "pay", "mcp_servers": "logs", "pricing": "claude-x", "sessions": "api"}

INHERITING: Final = ("codebases.*.fixes", "codebases.*.code_host", "sessions.*.heartbeat", "heartbeat.again_after")
"""Copies of other settings, which they inherit from: they are not settings of their own."""

NOT_COUNTED: Final = {
    *INHERITING,
    "heartbeat.then",
    *(f"pricing.*.long.{key}" for key in ("input", "output", "cache_read")),
    *(f"teams.*.{key}" for key in INHERITED),
}

PRICES: Final = {"input": 1, "output": 5, "cache_read": 0.5}
HOURS: Final = {"start": "06:00", "end": "14:00"}
SHARED: Final[dict[str, Any]] = {"codebases": {"shop": {"path": "shop"}}, "ops_channel": "C0OPS"}

ROWS: Final[list[tuple[str, object, dict[str, Any]]]] = [
    ("ops_channel", "C0OTHER", {}),
    ("approvers", ["U0ANN"], {}),
    ("team_language", "de", {}),
    ("tone", "dry", {}),
    ("rubrics", {"technical_qa": ["names the file"]}, {}),
    ("escalation.enabled", False, {}),
    ("escalation.expected_runtime_min_threshold", 20, {}),
    ("escalation.command", ["claude", "-p"], {}),
    ("escalation.time_limit_min", 60, {}),
    ("escalation.transcript_dir", "/srv/transcripts", {}),
    ("budget.per_thread_usd", 2, {}),
    ("budget.per_day_usd", 50, {}),
    ("remind_after", "2h", {}),
    ("expire_after", "1d", {}),
    ("acknowledge", "none", {}),
    ("feedback", False, {}),
    ("pages.again_after", "5m", {}),
    ("pages.then", "C0WAR", {}),
    ("brief.morning", "08:30", {}),
    ("brief.evening", "17:30", {}),
    ("working_hours.start", "09:00", {"end": "17:00"}),
    ("working_hours.end", "17:00", {"start": "09:00"}),
    ("working_hours.timezone", "Asia/Tokyo", {}),
    ("working_hours.days", ["sun"], {}),
    ("autonomy", "shadow", {}),
    ("baseline_reply_s", 900, {}),
    ("share", ["notes"], {}),
    ("codebase", "shop", {}),
    ("codebases.*.path", "shop", {}),
    ("codebases.*.url", "git@host:a/b.git", {}),
    ("codebases.*.branch", "next", {"url": "git@host:a/b.git"}),
    ("codebases.*.refresh", "1h", {"url": "git@host:a/b.git"}),
    ("codebases.*.kind", "docs", {"path": "shop"}),
    ("code_host", "gitea", {}),
    ("watched_chats.chat_id", "C0HELP", {}),
    ("watched_chats.name", "help", {"chat_id": "C0HELP"}),
    ("watched_chats.codebases", ["shop"], {"chat_id": "C0HELP"}),
    ("slack.mode", "http", {}),
    ("slack.http", "0.0.0.0:8080", {}),
    ("watcher.mentions_anywhere", False, {}),
    ("watcher.allow_bots", {"B1": "grafana"}, {}),
    ("watcher.allow_external", True, {}),
    ("watcher.backfill_max", "1h", {}),
    ("classifier.bot_id", "U0BOT", {}),
    ("classifier.ack_patterns", ["roger"], {}),
    ("classifier.question_keywords", ["anyone seen"], {}),
    ("classifier.alarm_keywords", ["checkout is down"], {}),
    ("classifier.languages", ["en"], {}),
    ("classifier.skip_chatter", True, {}),
    ("classifier.threshold", 0.7, {}),
    ("investigator.model", "house-model", {}),
    ("investigator.max_rounds", 1, {}),
    ("investigator.hard_cap_runtime_min", 9, {}),
    ("investigator.stall_s", 30, {}),
    ("validator.model", "house-model", {}),
    ("validator.max_rounds", 2, {}),
    ("provider", "bedrock", {}),
    ("base_url", "https://models.example.com", {}),
    ("mcp_servers.*.command", ["logs-mcp"], {}),
    ("mcp_servers.*.env", ["TOKEN"], {"command": ["logs-mcp"]}),
    ("mcp_servers.*.url", "https://mcp.example.com/x", {}),
    ("mcp_servers.*.headers", {"X-Key": "${KEY}"}, {"url": "https://mcp.example.com"}),
    ("mcp_servers.*.tools", ["query"], {"url": "https://mcp.example.com"}),
    ("pricing.*.input", 7, PRICES),
    ("pricing.*.output", 7, PRICES),
    ("pricing.*.cache_read", 7, PRICES),
    ("pricing.*.long.above", 7, PRICES),
    ("max_concurrent_sessions", 4, {}),
    ("heartbeat.enabled", False, {}),
    ("heartbeat.every", "1h", {}),
    ("heartbeat.active_hours.start", "06:00", {}),
    ("heartbeat.active_hours.end", "14:00", {}),
    ("heartbeat.active_hours.timezone", "local", {}),
    ("heartbeat.prompt", "Look twice.", {}),
    ("heartbeat.ack_token", "ALL_WELL", {}),
    ("heartbeat.ack_max_chars", 30, {}),
    ("heartbeat.include_reasoning", True, {}),
    ("heartbeat.severity", "page", {}),
    ("heartbeat.dedupe_window", "1h", {}),
    ("heartbeat.heartbeat_model", "cheap-model", {}),
    ("heartbeat.model", "house-model", {}),
    ("heartbeat.deliver.mode", "none", {}),
    ("heartbeat.deliver.channel", "slack", {"mode": "explicit", "to": "C0OPS"}),
    ("heartbeat.deliver.to", "C0OPS", {"mode": "explicit", "channel": "slack"}),
    ("heartbeat.visibility.show_ok", True, {}),
    ("heartbeat.visibility.show_alerts", False, {}),
    ("heartbeat.visibility.use_indicator", False, {}),
    ("heartbeat.commands", [["git", "status"]], {}),
    ("heartbeat.allow_tracked_playbook", True, {}),
    ("heartbeat.daily_budget_usd", 3, {}),
    ("teams.*.channels", [{"chat_id": "C0PAY", "name": "pay", "codebases": ["shop"]}], {"ops_channel": "C0PAYOPS"}),
    ("teams.*.codebases", ["shop"], {"ops_channel": "C0PAYOPS"}),
    ("sessions.*.name", "Shop API", {"cwd": "shop"}),
    ("sessions.*.cwd", "shop", {}),
    ("sessions.*.codebase", "shop", {}),
    ("sessions.*.owner", "S0ONCALL", {"cwd": "shop"}),
    ("sessions.*.team", "pay", {"cwd": "shop"}),
    ("sessions.*.master", True, {"cwd": "shop"}),
    ("keep_runs_for", "30d", {}),
    ("fixes.check", ["make", "test"], {}),
]
"""A key, a value that is not its default, and what must stand beside it."""


SPELLED: Final = {"5m": "PT5M", "1h": "PT1H", "2h": "PT2H", "1d": "P1D", "30d": "P30D"}
"""Durations as JSON has them."""


def settings_of(kind: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the path of every setting, ids as `*`, without copies that inherit."""
    if ".".join(path) in NOT_COUNTED:
        return
    below = kind_below(kind, "id")
    if (block := block_of(kind)) is not None and path != ("teams", "*", "channels"):
        for name in block.model_fields:
            yield from settings_of(kind_below(block, name), (*path, name))
    elif path and below is not kind and below is not None and block_of(below):
        yield from settings_of(below, (*path, "*"))
    else:
        yield ".".join(path)


def test_there_are_at_most_a_hundred_settings_and_the_table_below_has_each() -> None:
    """A setting that is added or removed is added or removed here."""
    found = list(settings_of(Settings))
    assert sorted(found) == sorted(key for key, _, _ in ROWS)
    assert len(found) <= 100


def test_the_example_names_each_setting_in_at_most_eighty_lines() -> None:
    """That it loads, uncommented, tests/reference shows."""
    text = (ROOT / "triage.example.yml").read_text()
    named = set(re.findall(r"([a-z_]+):", text))
    assert {key.rpartition(".")[2] for key, _, _ in ROWS} - named == set()
    assert len(text.splitlines()) <= 80


@each_row("key, value, beside", ROWS)
def test_a_setting_holds_what_is_written(tmp_path: Path, key: str, value: object, beside: dict[str, Any]) -> None:
    """So a key that is gone is refused here, and one that is read no more keeps its default."""
    (tmp_path / "shop").mkdir()
    config: dict[str, Any] = yaml.safe_load(yaml.safe_dump(SHARED))
    if key == "codebase":
        del config["codebases"]
    if key == "sessions.*.team":
        config["teams"] = {"pay": {"ops_channel": "C0PAYOPS"}}
    parts = key.split(".")
    path = [IDS[parts[number - 1]] if part == "*" else part for number, part in enumerate(parts)]
    block: Any = config
    for part in path[:-1]:
        if part == "watched_chats":
            block = block.setdefault(part, [{}])[0]
            continue
        if part == "long":
            block.update(PRICES)
        block = block.setdefault(part, {})
    if key.startswith("codebases."):
        block.clear()
    block |= {**beside, path[-1]: value}
    (tmp_path / "triage.yml").write_text(yaml.safe_dump(config))
    held: Any = load_settings(tmp_path / "triage.yml").model_dump(mode="json")
    for part in path:
        held = held[0][part] if isinstance(held, list) else held[part]
    assert held in (value, str(tmp_path / "shop"), SPELLED.get(str(value)))


@pytest.mark.parametrize("text", ["brief: {timezone: Asia/Tokyo}", "working_hours: {timezone: Asia/Tokyo}"])
def test_the_zone_of_briefs_is_the_team_s_clock(tmp_path: Path, text: str) -> None:
    """`brief.timezone` of earlier versions is read as `working_hours.timezone`."""
    assert load(tmp_path, text).timezone == "Asia/Tokyo"


def test_working_hours_say_their_own_zone(tmp_path: Path) -> None:
    text = 'brief: {timezone: Asia/Tokyo}\nworking_hours: {start: "09:00", end: "17:00", timezone: UTC}'
    assert load(tmp_path, text).timezone == "UTC"


def test_a_team_inherits_the_zone_of_briefs(tmp_path: Path) -> None:
    text = "brief: {timezone: Asia/Tokyo}\nteams: {pay: {ops_channel: C0PAY}, ops: {brief: {timezone: UTC}}}"
    settings = load(tmp_path, text)
    assert {name: one.timezone for name, one in settings.teams.items()} == {"pay": "Asia/Tokyo", "ops": "UTC"}


@each_row(
    "written, place",
    [
        ("127.0.0.1:3000", ("127.0.0.1", 3000)),
        ("'[::1]:0'", ("::1", 0)),
        ("{host: 0.0.0.0, port: 8080}", ("0.0.0.0", 8080)),
        ("{port: 8080}", ("127.0.0.1", 8080)),
    ],
)
def test_the_listening_address_is_read_in_both_forms(tmp_path: Path, written: str, place: tuple[str, int]) -> None:
    """Earlier versions had a block of `host` and `port`."""
    assert load(tmp_path, f"slack: {{http: {written}}}").slack.listens_on == place


def load(folder: Path, text: str) -> Settings:
    """Return the settings of a config of one codebase with some lines more."""
    (folder / "shop").mkdir()
    (folder / "triage.yml").write_text(f"codebase: shop\nops_channel: C0OPS\n{text}\n")
    return load_settings(folder / "triage.yml")

"""Keys that earlier versions had are named with their line and ignored; any other unknown key is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.config.settings import Settings, load_classifier, load_settings
from bot.config.written_keys import PLACES as ALL_PLACES
from bot.errors import ConfigError
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
PLACES = [(place, said) for place, said in ALL_PLACES.items() if ".owner." not in place]

PRICES = {"input": 1, "output": 5, "cache_read": 0}
WHOLE: dict[str, Any] = {
    "codebases": {"shop": {"path": "shop", "fixes": {"check": ["make"]}}},
    "ops_channel": "C0OPS",
    "teams": {"pay": {"ops_channel": "C0PAY", "brief": {"morning": "09:00"}}},
    "slack": {"mode": "http"},
    "classifier": {"skip_chatter": True},
    "mcp_servers": {"logs": {"command": ["x"]}},
    "pricing": {"claude-x.y": {**PRICES, "long": PRICES}},
    "fixes": {"check": ["make"]},
    "brief": {"morning": "08:30"},
    "heartbeat": {"every": "1h"},
    "sessions": {"shop": {"cwd": "shop", "heartbeat": {"every": "2h"}}},
}
"""A config with every block in which a removed key stood."""

IDS = {"teams": "pay", "codebases": "shop", "mcp_servers": "logs", "pricing": "claude-x.y", "sessions": "shop"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a codebase in it."""
    (tmp_path / "shop").mkdir()
    return tmp_path


def write(folder: Path, config: Any) -> Path:
    path = folder / "triage.yml"
    path.write_text(config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False))
    return path


def with_key(place: str, value: object) -> tuple[dict[str, Any], str]:
    """Return the whole config with a value at one place, and that place with ids for the stars."""
    config = json.loads(json.dumps(WHOLE))
    parts = place.split(".")
    path = [IDS[parts[number - 1]] if part == "*" else part for number, part in enumerate(parts)]
    block = config
    for part in path[:-1]:
        block = block[part]
    block[path[-1]] = value
    return config, ".".join(path)


@each_row("place, instead", PLACES)
def test_a_removed_key_is_named_with_its_line_and_ignored(folder: Path, place: str, instead: str) -> None:
    """Whatever its value is; the settings are those of a file without it."""
    plain = load_settings(write(folder, WHOLE))
    assert plain.removed_keys == ()
    before = yaml.safe_dump(WHOLE, sort_keys=False).splitlines()
    for value in ("never", {"a": [1, {"b": None}]}, [], 10**30, None):
        config, key = with_key(place, value)
        path = write(folder, config)
        after = path.read_text().splitlines()
        line = next(number for number, text in enumerate(after, 1) if before[number - 1 : number] != [text])
        settings = load_settings(path)
        assert settings.removed_keys == (f"triage.yml, line {line}: {key} was removed: {instead} Delete the key.",)
        assert settings.model_dump() == plain.model_dump()


@each_row("rota", ["{rota: [U0ANN, U0BEN], every: 7d, since: 2026-01-05}", "{rota: [], since: soon}", "{rota: null}"])
def test_an_owner_that_was_a_rota_is_nobody_and_is_named(folder: Path, rota: str) -> None:
    """Whatever the rota held; the other sessions keep their owners."""
    sessions = f"  api: {{cwd: ., owner: S0ONCALL}}\n  shop:\n    cwd: shop\n    owner: {rota}\n"
    settings = load_settings(write(folder, f"codebase: shop\nops_channel: C0OPS\nsessions:\n{sessions}"))
    assert {name: one.owner for name, one in settings.sessions.items()} == {"api": "S0ONCALL", "shop": None}
    [said] = settings.removed_keys
    assert said.startswith("triage.yml, line 7: sessions.shop.owner.rota was removed: an owner is a user or a user")
    assert "`owner: U0123ANN`" in said


def test_a_long_run_that_an_earlier_version_asked_for_may_name_a_rota(folder: Path) -> None:
    """It carries the settings of its time with it."""
    text = "codebase: shop\nops_channel: C0OPS\nsessions: {shop: {cwd: shop}}\n"
    stored = load_settings(write(folder, text)).model_dump(mode="json")
    stored["sessions"]["shop"]["owner"] = {"rota": ["U0ANN"], "every": "7d", "since": "2026-01-05"}
    assert Settings.model_validate(stored, context={"base": folder}).sessions["shop"].owner is None


def test_every_removed_key_is_named_in_the_order_of_the_file(folder: Path) -> None:
    """Also one that stands there twice, or whose value has a tag that is not read."""
    text = "codebase: shop\nops_channel: C0OPS\nsave_notes: !!python/none\nslack: {connections: 2}\nsave_notes: ask\n"
    said = load_settings(write(folder, text)).removed_keys
    assert [one.partition(" was")[0] for one in said] == [
        "triage.yml, line 3: save_notes",
        "triage.yml, line 4: slack.connections",
        "triage.yml, line 5: save_notes",
    ]


def test_each_teams_settings_hold_what_is_said_of_the_file(folder: Path) -> None:
    """A team's settings are made from those of the file."""
    config, _ = with_key("teams.*.save_notes", "ask")
    settings = load_settings(write(folder, config))
    assert settings.by_team()["pay"].removed_keys == settings.removed_keys != ()


@each_row(
    "line, problem",
    [
        ("connections: 2", "connections: unknown key"),
        ("slack: {conections: 2}", "slack.conections: unknown key"),
        ("slack: {save_notes: ask}", "slack.save_notes: unknown key"),
        ("heartbeat: {commands: [{suggestions_per_day: 3}]}", "heartbeat.commands"),
    ],
)
def test_the_same_name_elsewhere_is_refused(folder: Path, line: str, problem: str) -> None:
    """As every key that never was one."""
    with pytest.raises(ConfigError) as caught:
        load_settings(write(folder, f"codebase: shop\nops_channel: C0OPS\n{line}\n"))
    assert caught.value.problems[0].startswith(problem)


def test_what_is_wrong_beside_a_removed_key_is_still_found(folder: Path) -> None:
    """Alone, without the key that is ignored."""
    with pytest.raises(ConfigError) as caught:
        load_settings(write(folder, "codebase: shop\nops_channel: C0OPS\nsave_notes: 1\nacknowledge: loudly\n"))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["acknowledge"]


def test_a_file_of_the_classifier_alone_may_hold_removed_keys(folder: Path) -> None:
    """Offline commands read only that block."""
    path = write(folder, "save_notes: ask\nclassifier: {skip_chatter: true}\n")
    assert load_classifier(path).skip_chatter


@each_row("place", [place for place, _ in PLACES])
def test_the_schema_has_no_removed_key(place: str) -> None:
    """Editors read it, and mark the key as wrong."""
    schema = json.loads((ROOT / "docs" / "triage.schema.json").read_text())
    *blocks, key = place.split(".")
    found = [schema]
    for part in blocks:
        inner = [one["properties"][part] if part != "*" else any_of_its_ids(one) for one in found]
        found = [kind for one in inner for kind in kinds_in(schema, one)]
    assert found
    assert not [one for one in found if key in one["properties"]]


def any_of_its_ids(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the schema says of a value whose key is an id."""
    by_form = one.get("patternProperties", {})
    return next(iter(by_form.values()), one.get("additionalProperties"))


def kinds_in(schema: dict[str, Any], one: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that a part of a schema may be."""
    if "$ref" in one:
        return kinds_in(schema, schema["$defs"][one["$ref"].rpartition("/")[2]])
    several = [kind for inner in one.get("anyOf", []) for kind in kinds_in(schema, inner)]
    return several or [one] * (one.get("type") == "object")

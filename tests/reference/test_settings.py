"""The reference names every key of the model; the examples name no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field

from bot.composition.investigators import CLOUD_VARIABLES
from bot.config.environment import VARIABLES
from bot.config.settings import Settings, load_settings
from bot.errors import ConfigError
from reference.__main__ import HERE
from reference.schema import editor_schema, schema_of
from reference.settings import Undescribed, blocks, settings_part
from tests.tables import each_row

SCHEMA = Draft202012Validator(editor_schema())


class Inner(BaseModel):
    """A block."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    size: Annotated[int, Field(ge=1, le=9)] = 3
    """How big."""


class Outer(BaseModel):
    """A file."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    inner: Inner = Inner()
    mute: str = "x"


def example() -> dict[str, Any]:
    """The example with every key that is commented out in it."""
    _, *lines = (HERE / "triage.example.yml").read_text().splitlines()  # the first is for editors
    whole = [
        re.sub(r"^# ?", "", line) for line in lines if re.match(r"#? *(-|[a-z][\w-]*:|\{)", re.sub("^# ?", "", line))
    ]
    return dict(yaml.safe_load("\n".join(whole)))


def test_every_top_level_key_is_in_the_reference() -> None:
    text = settings_part()
    assert [name for name in Settings.model_fields if f"- `{name}` (" not in text] == []


def test_a_key_without_a_docstring_is_refused_by_name() -> None:
    with pytest.raises(Undescribed, match=r"^mute$"):
        blocks(schema_of(Outer))


def test_a_key_is_shown_with_its_limits_and_its_default() -> None:
    described = schema_of(Outer)
    described["properties"]["mute"]["description"] = "Says nothing."
    assert "- `inner.size` (whole number, 1 to 9; `3`): How big." in settings_part(described)


def test_what_a_running_bot_takes_over_is_said() -> None:
    text = settings_part()
    (said,) = [line for line in text.splitlines() if line.startswith("A running bot takes over ")]
    assert all(f"`{name}`" in said for name in ("approvers", "heartbeat", "sessions", "watched_chats"))
    assert "`budget`" not in said


def test_a_team_names_the_keys_that_it_has_from_the_top_and_describes_its_own() -> None:
    team = settings_part().partition("## `teams.<name>`")[2].partition("\n## ")[0]
    assert "`budget`" in team
    assert "`teams.<name>.budget`" not in team
    assert "- `teams.<name>.channels` (" in team


def test_the_example_holds_only_keys_there_are(tmp_path: Path) -> None:
    """Loaded with all that is commented out, for one team and for several; the folders it names are made."""
    config = example()
    assert len(config) > 20
    assert set(config) <= set(Settings.model_fields)
    del config["codebase"]
    config["codebases"]["shop"]["path"] = str(tmp_path)
    for name, session in config["sessions"].items():
        session["cwd"] = str(tmp_path / name)
        (tmp_path / name).mkdir()
    teams = config.pop("teams")
    own = {name: session | {"team": "payments"} for name, session in config["sessions"].items()}
    several = {key: one for key, one in config.items() if key not in ("watched_chats", "ops_channel")}
    path = tmp_path / "triage.yml"
    for form in (config, {**several, "teams": teams, "sessions": own}):
        path.write_text(yaml.safe_dump(form))
        load_settings(path)
    config["teams"] = teams
    assert list(SCHEMA.iter_errors(config)) == []


def test_a_wrong_key_in_the_example_would_be_found() -> None:
    assert [error for error in SCHEMA.iter_errors({**example(), "brif": {}}) if "brif" in error.message]


def test_the_example_may_be_written_in_camel_case() -> None:
    """A required key too; the value of a key is checked in either spelling."""
    config = {"opsChannel" if key == "ops_channel" else key: value for key, value in example().items()}
    config.pop("teams")
    config["heartbeat"] = {"activeHours": {"start": "08:00"}, "ackMaxChars": 30}
    assert list(SCHEMA.iter_errors(config)) == []
    assert not SCHEMA.is_valid({**config, "heartbeat": {"ackMaxChars": "many"}})


def test_every_variable_of_the_example_is_read_and_every_one_read_is_in_it() -> None:
    text = (HERE / ".env.example").read_text()
    clouds = {name for cloud in CLOUD_VARIABLES.values() for name in cloud.values()}
    assert set(re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE)) == {*VARIABLES, *clouds}


BAD = (
    "ops_channel: ops",
    "max_concurrent_sessions: 17",
    "team_language: english",
    "remind_after: 5",
    "heartbeat: {every: 1.5h}",
    'heartbeat: {active_hours: {start: "8:00"}}',
    "sessions: {a: {owner: x}}",
    "budget: {per_day_usd: 0}",
    "slack: {mode: carrier}",
    "brief: {morning: 8}",
    "watched_chats: [{name: a}]",
)


@each_row("line", BAD)
def test_the_schema_refuses_what_the_loader_refuses(tmp_path: Path, line: str) -> None:
    (tmp_path / "triage.yml").write_text(
        f"codebase: .\n{'' if 'ops_channel' in line else 'ops_channel: C0OPS'}\n{line}\n"
    )
    with pytest.raises(ConfigError):
        load_settings(tmp_path / "triage.yml")
    assert not SCHEMA.is_valid(yaml.safe_load((tmp_path / "triage.yml").read_text()))

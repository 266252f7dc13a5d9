"""A rota of owners, as earlier versions had it: it is named with its line, and the session has no owner."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config.settings import Settings, load_settings
from tests.tables import each_row

TOP = "codebase: shop\nops_channel: C0OPS\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two codebases in it."""
    for name in ("shop", "api"):
        (tmp_path / name).mkdir()
    return tmp_path


def load(folder: Path, text: str) -> Settings:
    """Return the settings of a file that ends with this text."""
    (folder / "triage.yml").write_text(TOP + text)
    return load_settings(folder / "triage.yml")


@each_row("rota", ["{rota: [U0ANN, U0BEN], every: 7d, since: 2026-01-05}", "{rota: [], since: soon}", "{rota: null}"])
def test_a_session_with_a_rota_has_no_owner_and_says_what_to_write(folder: Path, rota: str) -> None:
    """Whatever the rota held; the other sessions keep their owners."""
    sessions = f"sessions:\n  api: {{cwd: api, owner: S0ONCALL}}\n  shop:\n    cwd: shop\n    owner: {rota}\n"
    settings = load(folder, sessions)
    assert {name: one.owner for name, one in settings.sessions.items()} == {"api": "S0ONCALL", "shop": None}
    [said] = settings.removed_keys
    assert said.startswith("triage.yml, line 7: sessions.shop.owner: an owner is a user or a user group")
    assert "`owner: U0123ANN`" in said


def test_a_file_without_a_rota_has_nothing_to_say(folder: Path) -> None:
    """Every team's settings hold what is said of the file."""
    assert load(folder, "sessions: {shop: {cwd: shop, owner: U0ANN}}\n").removed_keys == ()
    settings = load(folder, "sessions: {shop: {cwd: shop, owner: {rota: [U0ANN], since: 2026-01-05}}}\n")
    assert settings.by_team()["default"].removed_keys == settings.removed_keys != ()


def test_settings_that_an_earlier_version_stored_are_read(folder: Path) -> None:
    """A long run that was asked for before the update carries its settings with it."""
    settings = load(folder, "sessions: {shop: {cwd: shop}}\n").model_dump(mode="json")
    settings["sessions"]["shop"]["owner"] = {"rota": ["U0ANN"], "every": "7d", "since": "2026-01-05"}
    assert Settings.model_validate(settings, context={"base": folder}).sessions["shop"].owner is None

"""The data directory and triage.yml as a command finds them: in its options, else where the environment says."""

from __future__ import annotations

from pathlib import Path

from bot.config.environment import Environment, read_environment
from bot.config.settings import Settings, find_config, load_settings


def home_of(home: Path | None) -> Path:
    """Return the data directory: `--home`, else the environment's; raises ConfigError if that one leads nowhere."""
    return home or read_environment(dotenv=Path(".env")).home


def environment_at(home: Path | None) -> Environment:
    """Return the environment, with `--home` in it if that was given; raises ConfigError if it cannot be used."""
    environment = read_environment(dotenv=Path(".env"))
    return environment.model_copy(update={"home": home}) if home else environment


def settings_at(config: Path | None, home: Path) -> Settings:
    """Return the settings of `--config`, else of the first triage.yml there is; raises ConfigError."""
    return load_settings(find_config(config, home))

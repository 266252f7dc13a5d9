"""What the checks of `triage doctor` look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.casework.reports.health_checks import HealthCheck
from bot.cli.data_directory import settings_at
from bot.composition.storage_engine import open_store
from bot.config.environment import Environment, require_signing_secret, require_tokens
from bot.config.settings import Settings
from bot.errors import ConfigError
from bot.ports import Store

PATIENCE_S = 5.0
"""How long a check waits for an answer from outside; all of them together take little longer."""


class UnreadSettings(ConfigError):
    """The settings cannot be read, which one check says for all."""


class NoTokens(ConfigError):
    """There is nothing to talk to Slack with, which one check says for all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DoctorContext:
    """One data directory with its settings, which are read by the checks that need them."""

    home: Path
    config: Path | None
    environment: Environment
    now: datetime

    def store(self) -> Store:
        """Return what the data directory holds; raises StoreError where it cannot be read."""
        return open_store(self.environment.model_copy(update={"home": self.home}), is_reader=True)

    def settings(self) -> Settings:
        """Return the settings; raises Unsettled, listing what is wrong with them."""
        try:
            return settings_at(self.config, self.home)
        except ConfigError as error:
            raise UnreadSettings(*error.problems) from error

    def bot_token(self) -> str:
        """Return the bot's token; raises Tokenless if what this mode needs to talk to Slack is not there."""
        over_http = self.settings().slack.mode == "http"
        try:
            return (require_signing_secret if over_http else require_tokens)(self.environment)[0]
        except ConfigError as error:
            raise NoTokens(*error.problems) from error


Check = Callable[[DoctorContext], HealthCheck]

"""What the checks of `triage doctor` look at, and what each returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.cli.data_directory import settings_at
from bot.composition.storage_engine import look_at_database, open_store
from bot.config.environment import Environment, require_bot_token, require_signing_secret, require_tokens
from bot.config.settings import Settings
from bot.errors import ConfigError, StoreError
from bot.ports import Store

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_leases import DatabaseReport

PATIENCE_S = 5.0
"""How long a check waits for an answer from outside; all of them together take little longer."""

CONFIG: Final = "config"
TOKENS: Final = "tokens"
DATABASE: Final = "database"


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthCheck:
    """What one check found; `fix` is one line, empty where nothing is wrong."""

    ok: bool
    says: str
    fix: str = ""


def well(says: str) -> HealthCheck:
    """Return what a check found where nothing is wrong."""
    return HealthCheck(ok=True, says=says)


def wrong(says: str, fix: str) -> HealthCheck:
    """Return what a check found wrong, and the one thing to do about it."""
    return HealthCheck(ok=False, says=says, fix=fix)


class SkippedCheck(HealthCheck):
    """A check that was not made; `says` tells why."""


class NotReady(ConfigError):
    """What several checks need cannot be used (`lacking`), which the check named `check` says for all."""

    def __init__(self, check: str, lacking: str, *problems: str) -> None:
        super().__init__(*problems)
        self.check, self.lacking = check, lacking


@dataclass(frozen=True, kw_only=True, slots=True)
class DoctorContext:
    """One data directory with its settings, which are read by the checks that need them."""

    home: Path
    config: Path | None
    environment: Environment
    now: datetime

    def store(self) -> Store:
        """Return what the data directory holds; raises StoreError, NotReady where its database cannot be used."""
        with self._needing_database():
            return open_store(self.environment.model_copy(update={"home": self.home}), is_reader=True)

    def database(self) -> DatabaseReport | None:
        """Return how the database stands, None where there is none; raises NotReady where it cannot be used."""
        with self._needing_database():
            return look_at_database(self.environment)

    @contextmanager
    def _needing_database(self) -> Iterator[None]:
        try:
            yield
        except (ConfigError, StoreError) as error:
            if self.environment.database_url is None:
                raise
            raise NotReady(DATABASE, "the database cannot be used", str(error)) from error

    def settings(self) -> Settings:
        """Return the settings; raises NotReady, listing what is wrong with them."""
        try:
            return settings_at(self.config, self.home)
        except ConfigError as error:
            raise NotReady(CONFIG, "triage.yml cannot be used", *error.problems) from error

    def is_worker(self) -> bool:
        """Whether the environment is that of `triage run --only work`: a database, and nothing to hear Slack with."""
        one = self.environment
        ear = one.slack_signing_secret if self.settings().slack.mode == "http" else one.slack_app_token
        return one.database_url is not None and ear is None

    def bot_token(self) -> str:
        """Return the bot's token; raises NotReady if what this mode needs to talk to Slack is not there."""
        over_http = self.settings().slack.mode == "http"
        try:
            if self.is_worker():
                return require_bot_token(self.environment)
            return (require_signing_secret if over_http else require_tokens)(self.environment)[0]
        except ConfigError as error:
            raise NotReady(TOKENS, "there are no tokens for Slack", *error.problems) from error


Check = Callable[[DoctorContext], HealthCheck]

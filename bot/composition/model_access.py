"""Builds what all model runs share: one client, one price list, one budget.

The SDK is imported only where it is used: without a key it takes neither memory nor start-up time.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from bot.agent.budget import Allowance, Budget
from bot.agent.cost import Price, Prices, dearest_model, is_as_dear, known_price, with_overrides
from bot.agent.specialist import ModelAccess
from bot.config.environment import Environment
from bot.config.model_settings import PriceSettings, Provider
from bot.config.settings import Settings
from bot.ports import Clock, Journal

if TYPE_CHECKING:
    from bot.agent.loop import AnthropicRunner


def open_model_access(
    settings: Settings, environment: Environment, clock: Clock, spend: Journal, *, secrets: frozenset[str]
) -> ModelAccess:
    """Return access to the models that the settings name; `spend` is the journal of what runs cost.

    `secrets` are cut out of what leaves it.

    Raises:
        ConfigError: a cloud's settings cannot be used.
    """
    stop = threading.Event()
    return ModelAccess(
        runner=_runner(settings, environment, clock, secrets, stop),
        spending=Budget(
            spend, clock, per_day_usd=settings.budget.per_day_usd, at_once=settings.max_concurrent_sessions
        ),
        runs=environment.home / "runs",
        stop=stop,
    )


def thread_allowance(settings: Settings) -> Allowance | None:
    """Return what all runs of one thread may cost together."""
    usd = settings.budget.per_thread_usd
    return None if usd is None else Allowance(usd=usd, whose="this thread")


def uses_models(settings: Settings, environment: Environment) -> bool:
    """Whether a model investigates: with an API key, or where a cloud brings its own credentials."""
    return environment.anthropic_api_key is not None or settings.provider != "anthropic"


def runs_long(settings: Settings, environment: Environment) -> bool:
    """Whether there is anything that a long investigation could use: a model, or a command of the operator's."""
    return uses_models(settings, environment) or settings.escalation.command is not None


def stall_limit_s(settings: Settings, environment: Environment) -> float | None:
    """Return how long a model may be silent: as configured, else TRIAGE_STALL_S, else the default; None: for ever."""
    if "stall_s" in settings.investigator.model_fields_set or environment.stall_s is None:
        return settings.investigator.stall_s
    return environment.stall_s


def _runner(
    settings: Settings, environment: Environment, clock: Clock, secrets: frozenset[str], stop: threading.Event
) -> AnthropicRunner:
    from bot.adapters.anthropic_client import make_client
    from bot.agent.loop import AnthropicRunner

    client = make_client(
        settings.provider,
        base_url=settings.base_url or environment.anthropic_base_url,
        **_credentials(settings.provider, environment),
    )
    return AnthropicRunner(client, _prices(settings), clock=clock, monotonic=time.monotonic, secrets=secrets, stop=stop)


CLOUD_VARIABLES: Final = {
    "bedrock": {"api_key": "AWS_BEARER_TOKEN_BEDROCK", "region": "AWS_REGION"},
    "vertex": {"region": "CLOUD_ML_REGION", "project_id": "ANTHROPIC_VERTEX_PROJECT_ID"},
    "foundry": {"api_key": "ANTHROPIC_FOUNDRY_API_KEY", "resource": "ANTHROPIC_FOUNDRY_RESOURCE"},
}
"""What the client of each cloud is told, and the variable that holds it."""


def _credentials(provider: Provider, environment: Environment) -> dict[str, str | None]:
    """Return what a provider wants to know of the environment; what is missing it says itself."""
    key, cloud = environment.anthropic_api_key, CLOUD_VARIABLES.get(provider, {})
    if provider == "anthropic":
        return {"api_key": key.get_secret_value() if key else None}
    return {name: environment.variables.get(variable) or None for name, variable in cloud.items()}


def unpriced_models(settings: Settings) -> list[str]:
    """Return the models in use that have no known price."""
    beats = [session.heartbeat for session in settings.sessions.values() if session.heartbeat.enabled]
    used = [settings.investigator.model, settings.validator.model]
    used += [model for beat in beats for model in (beat.heartbeat_model, beat.model)]
    prices = _prices(settings)
    return [model for model in dict.fromkeys(used) if model and known_price(model, prices) is None]


def dear_first_looks(settings: Settings) -> list[str]:
    """Return the ids of the sessions whose `heartbeat_model` costs as much as their `model`, or more."""
    prices = _prices(settings)
    beats = {name: session.heartbeat for name, session in settings.sessions.items() if session.heartbeat.enabled}
    looked = {name: beat for name, beat in beats.items() if beat.heartbeat_model}
    return [name for name, beat in looked.items() if is_as_dear(beat.heartbeat_model, beat.model, prices)]


def assumed_price(settings: Settings) -> tuple[str, Price]:
    """Return the dearest known model and its price, at which a model without one counts."""
    prices = _prices(settings)
    dearest = dearest_model(prices)
    return dearest, prices[dearest]


def _prices(settings: Settings) -> Prices:
    return with_overrides({name: _price(given) for name, given in settings.pricing.items()})


def _price(given: PriceSettings) -> Price:
    if given.long is None:
        return Price(given.input, given.output, given.cache_read)
    long = Price(given.long.input, given.long.output, given.long.cache_read)
    return Price(given.input, given.output, given.cache_read, long, given.long.above)

"""Chooses who investigates and validates: a search and the code checks, or two models behind the same ports.

The SDKs of models and of MCP servers are imported only where they are used: without a key they take neither memory nor
start-up time.

Builds what all model runs share: one client, one price list, one budget.

The SDK is imported only where it is used: without a key it takes neither memory nor start-up time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from bot.agent.cost import Price, Prices, dearest_model, is_as_dear, known_price, with_overrides
from bot.agent.ledger import Ledger
from bot.agent.model_run import RunLimits
from bot.agent.prompts import prompt
from bot.agent.run_records import RunRecorder
from bot.agent.specialist import Allowance, Budget, ModelAccess, Specialist
from bot.agent.tools.base import Tool
from bot.agent.tools.codebase_tools import investigator_tools
from bot.casework.checks.model_validator import ModelValidator, ValidatorAnswer
from bot.casework.checks.validation import CodeValidator, Validator
from bot.casework.investigate.assignment import Investigator
from bot.casework.investigate.code_findings import CodeFindings
from bot.casework.investigate.model_investigator import InvestigatorAnswer, ModelInvestigator, ToolsFor
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.composition.codebases import TeamCode
from bot.config.environment import Environment
from bot.config.model_settings import PriceSettings, Provider
from bot.config.settings import Settings
from bot.ports import Attachments, Clock, Journal, NoteIndex, Store
from bot.ports.collections import SPEND

if TYPE_CHECKING:
    from bot.adapters.mcp_tools import McpServers
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


ANSWER_TOKENS = 16_000
LONG_RUN_TURNS = 150
LONG_RUN_ATTEMPTS = 60
"""So many attempts last longer than the run: nobody waits for a worker's place meanwhile."""

FIRST_PAUSE_S = 5.0
"""How long a question may wait for a provider at the place of a worker, before anything was paid for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InvestigationInputs:
    """What both kinds of staff work with; `is_long` gives the investigator the time of an escalation.

    Without `attachments`, which take a token of the chat, no image is read.
    """

    settings: Settings
    environment: Environment
    code: TeamCode
    storage: Store
    memory: NoteIndex
    clock: Clock
    attachments: Attachments | None = None
    is_long: bool = False


class CaseworkModels:
    """Who investigates, who validates, where that is recorded, and how they are called to an operator.

    They are models where these can be used, else a search and the code checks. `models` is what they share with the
    beats; None offline.

    Raises:
        ConfigError: a cloud's or a server's settings cannot be used.
    """

    def __init__(self, sources: InvestigationInputs) -> None:
        settings, environment, code = sources.settings, sources.environment, sources.code
        uses = uses_models(settings, environment)
        self._servers = _servers(sources) if uses else None
        secrets = environment.secrets() | (self._servers.secrets() if self._servers else frozenset())
        self.runs = RunRecorder(sources.storage.runs, sources.clock, secrets)
        checks = CodeValidator(
            code.codebases,
            sources.storage.notes,
            self.runs,
            sources.clock,
            secrets=secrets,
            team_language=settings.team_language if uses else None,  # a search speaks English to everybody
        )
        model: Investigator | None = None
        self.checks = checks
        self.validator: Validator = checks
        self.described = "offline, no API key"
        self.models: ModelAccess | None = None
        if uses:
            spend = sources.storage.journal(SPEND)
            self.models = open_model_access(settings, environment, sources.clock, spend, secrets=secrets)
            drafts, judges = _specialists(sources, self.models)
            tools = _toolbox(sources, self._servers, secrets)
            model = ModelInvestigator(
                drafts,
                tools,
                code.codebases,
                notes=sources.storage.notes,
                attachments=sources.attachments,
                secrets=secrets,
            )
            self.validator = ModelValidator(checks, judges, sources.clock)
            judge = "" if judges.model == drafts.model else f", checked by {judges.model}"
            self.described = f"{drafts.model}{judge}"
        self.investigator = CodeFindings(
            code.codebases, model, OfflineInvestigator.in_codebase, clones=code.clones, cloned=code.ids
        )

    def close(self) -> None:
        """Let go of the MCP servers."""
        if self._servers is not None:
            self._servers.close()


def _specialists(sources: InvestigationInputs, models: ModelAccess) -> tuple[Specialist, Specialist]:
    """Return the investigator's and the validator's: one runner, one budget, other words and another answer."""
    settings, limits = sources.settings, _limits(sources)
    about = f"\n\n# The team\n\n{_about_team(settings)}"
    drafts = Specialist(
        access=models,
        model=settings.investigator.model,
        system=f"{prompt('investigator')}{about}\n{_caps(settings, limits)}",
        answer=InvestigatorAnswer,
        limits=limits,
        allowance=thread_allowance(settings),
    )
    judge = settings.validator.model or drafts.model
    return drafts, replace(
        drafts, model=judge, system=f"{prompt('validator')}{about}", answer=ValidatorAnswer, effort="high"
    )


def _about_team(settings: Settings) -> str:
    """Return what a model is told of the team: its language, and how it wants replies to sound."""
    tone = (
        f"\nHow replies should sound, in its words; every rule above comes first: {settings.tone}"
        if settings.tone
        else ""
    )
    return f"Its language is `{settings.team_language}`.{tone}"


def _caps(settings: Settings, limits: RunLimits) -> str:
    """Return what an investigator is told of its time and of how often a draft may come back."""
    minutes, rounds = (limits.total_s or 0) / 60, settings.investigator.max_rounds
    return f"A run ends after {minutes:g} min and {limits.max_turns} turns; a question has at most {rounds} rounds."


def _limits(sources: InvestigationInputs) -> RunLimits:
    settings = sources.settings
    limits = RunLimits(
        total_s=settings.investigator.hard_cap_runtime_min * 60,
        stall_s=stall_limit_s(settings, sources.environment),
        max_tokens=ANSWER_TOKENS,
        first_pause_s=FIRST_PAUSE_S,
    )
    if not sources.is_long:
        return limits
    return replace(
        limits,
        total_s=settings.escalation.time_limit_min * 60,
        max_turns=LONG_RUN_TURNS,
        max_attempts=LONG_RUN_ATTEMPTS,
        first_pause_s=None,
    )


def _toolbox(sources: InvestigationInputs, servers: McpServers | None, secrets: frozenset[str]) -> ToolsFor:
    def tools(ledger: Ledger, about: Collection[str]) -> Sequence[Tool]:
        own = investigator_tools(
            sources.code.codebases.about(about),  # those of now, for the whole run
            sources.memory,
            sources.storage.notes,
            ledger,
            known_secrets=secrets,
        )
        return [*own, *(servers.tools() if servers else ())]

    return tools


def _servers(sources: InvestigationInputs) -> McpServers | None:
    settings, environment = sources.settings, sources.environment
    if not settings.mcp_servers:
        return None
    from bot.adapters.mcp_tools import McpServers

    return McpServers(settings.mcp_servers, environment.variables, known_secrets=environment.secrets())

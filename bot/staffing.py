"""Who works a question: a search and the code checks, or two models behind the same ports.

The SDKs of models and of MCP servers are imported where they are used and nowhere else: without a key they take
neither memory nor start-up time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.adapters.memory_index import MemoryNotes
from bot.adapters.ndjson_journal import NdjsonJournal
from bot.adapters.passage_index import CodePassages
from bot.agent.git import GitRepo
from bot.agent.ledger import Ledger
from bot.agent.prices import Prices, price_of, with_overrides
from bot.agent.prompts import prompt
from bot.agent.run import Limits, Runner
from bot.agent.tool import Tool
from bot.agent.tools import code_tools, reading_tools
from bot.casework.answers import InvestigatorAnswer, ValidatorAnswer
from bot.casework.code_validator import CodeValidator
from bot.casework.investigator import Investigator
from bot.casework.model_investigator import ModelInvestigator, ToolsFor
from bot.casework.model_validator import ModelValidator
from bot.casework.offline import OfflineInvestigator
from bot.casework.runs import RunRecorder
from bot.casework.specialist import Specialist
from bot.casework.spending import Spending
from bot.casework.validator import Validator
from bot.environment import Environment
from bot.model_settings import BudgetSettings, Provider
from bot.ports import Clock
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.adapters.mcp_tools import McpServers

ANSWER_TOKENS = 16_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """What both kinds of staff work with."""

    settings: Settings
    environment: Environment
    repo: GitRepo
    index: CodePassages
    memory: MemoryNotes
    clock: Clock

    @property
    def home(self) -> Path:
        """The data directory."""
        return self.environment.home


@dataclass(frozen=True, kw_only=True, slots=True)
class Staff:
    """Who investigates, who validates, where that is recorded, and how they are called to an operator."""

    investigator: Investigator
    validator: Validator
    runs: RunRecorder
    described: str
    close: Callable[[], None]


def staff(sources: Sources) -> Staff:
    """Return models where they can be used, else the offline pair.

    Raises:
        ConfigError: a cloud's or a server's settings cannot be used.
    """
    if uses_models(sources.settings, sources.environment):
        return _models(sources)
    runs, code = _records(sources, sources.environment.secrets())
    offline = OfflineInvestigator(sources.repo, sources.index)
    return Staff(investigator=offline, validator=code, runs=runs, described="offline, no API key", close=_nothing)


def _records(sources: Sources, secrets: frozenset[str]) -> tuple[RunRecorder, CodeValidator]:
    runs = RunRecorder(sources.home / "runs", sources.clock, secrets)
    codebase, memory = sources.settings.codebase, sources.home / "memory"
    return runs, CodeValidator(codebase, memory, runs, sources.clock, secrets=secrets)


def _models(sources: Sources) -> Staff:
    servers = _servers(sources)
    secrets = sources.environment.secrets() | (servers.secrets() if servers else frozenset())
    runs, code = _records(sources, secrets)
    drafts, judges = _specialists(sources, secrets)
    tools = _toolbox(sources, servers, secrets)
    return Staff(
        investigator=ModelInvestigator(drafts, tools, sources.repo, secrets=secrets),
        validator=ModelValidator(code, judges, _reader(sources, secrets), sources.clock),
        runs=runs,
        described=drafts.model if drafts.model == judges.model else f"{drafts.model}, validated by {judges.model}",
        close=servers.close if servers else _nothing,
    )


def _specialists(sources: Sources, secrets: frozenset[str]) -> tuple[Specialist, Specialist]:
    """Return the investigator's and the validator's: one runner, one budget, other words and another answer."""
    settings = sources.settings
    model = settings.investigator.model
    judge = settings.validator.model or model
    prices = with_overrides({name: price.model_dump() for name, price in settings.pricing.items()})
    drafts = Specialist(
        runner=_runner(sources, prices, secrets),
        spending=_spending(sources, prices, (model, judge)),
        model=model,
        system=f"{prompt('investigator')}\n\n# The team\n\nIts language is `{settings.team_language}`.",
        answer=InvestigatorAnswer,
        limits=_limits(sources),
        runs=sources.home / "runs",
    )
    return drafts, replace(drafts, model=judge, system=prompt("validator"), answer=ValidatorAnswer)


def _limits(sources: Sources) -> Limits:
    return Limits(
        total_s=sources.settings.investigator.hard_cap_runtime_min * 60,
        stall_s=stall_limit_s(sources.settings, sources.environment),
        max_tokens=ANSWER_TOKENS,
    )


def stall_limit_s(settings: Settings, environment: Environment) -> float | None:
    """Return how long a model may be silent: as configured, else TRIAGE_STALL_S, else the default; None: for ever."""
    if "stall_s" in settings.investigator.model_fields_set or environment.stall_s is None:
        return settings.investigator.stall_s
    return environment.stall_s


def uses_models(settings: Settings, environment: Environment) -> bool:
    """Whether a model investigates: with an API key, or where a cloud brings its own credentials."""
    return environment.anthropic_api_key is not None or settings.provider != "anthropic"


def _reader(sources: Sources, secrets: frozenset[str]) -> ToolsFor:
    return lambda ledger: reading_tools(sources.repo, ledger, known_secrets=secrets)


def _toolbox(sources: Sources, servers: McpServers | None, secrets: frozenset[str]) -> ToolsFor:
    def tools(ledger: Ledger) -> Sequence[Tool]:
        own = code_tools(
            sources.repo,
            sources.index,
            sources.memory,
            sources.home / "memory",
            ledger,
            known_secrets=secrets,
        )
        return [*own, *(servers.tools(ledger) if servers else ())]

    return tools


def _servers(sources: Sources) -> McpServers | None:
    settings, environment = sources.settings, sources.environment
    if not settings.mcp_servers:
        return None
    from bot.adapters.mcp_tools import McpServers

    return McpServers(settings.mcp_servers, environment.variables, known_secrets=environment.secrets())


def _runner(sources: Sources, prices: Prices, secrets: frozenset[str]) -> Runner:
    from bot.adapters.anthropic_client import make_client
    from bot.agent.loop import AnthropicRunner

    settings, environment = sources.settings, sources.environment
    client = make_client(
        settings.provider,
        base_url=settings.base_url or environment.anthropic_base_url,
        **_credentials(settings.provider, environment),
    )
    return AnthropicRunner(client, prices, clock=sources.clock, monotonic=time.monotonic, secrets=secrets)


def _credentials(provider: Provider, environment: Environment) -> dict[str, str | None]:
    """Return what a provider wants to know of the environment; what is missing it says itself."""
    env = environment
    return {
        "anthropic": {"api_key": _secret(env.anthropic_api_key)},
        "bedrock": {"api_key": _secret(env.aws_bearer_token), "region": env.aws_region},
        "vertex": {"region": env.vertex_region, "project_id": env.vertex_project_id},
        "foundry": {"api_key": _secret(env.foundry_api_key), "resource": env.foundry_resource},
    }[provider]


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def _spending(sources: Sources, prices: Prices, models: Sequence[str]) -> Spending:
    """Return the limits of spending; those nobody asked for do not stop a model that has no price."""
    settings = sources.settings
    is_priced = all(price_of(model, prices) for model in models)
    budget = settings.budget if is_priced or "budget" in settings.model_fields_set else _UNLIMITED
    return Spending(
        NdjsonJournal(sources.home / "spend.ndjson"),
        sources.clock,
        per_thread_usd=budget.per_thread_usd,
        per_day_usd=budget.per_day_usd,
        at_once=settings.max_concurrent_sessions,
    )


_UNLIMITED = BudgetSettings(per_thread_usd=None, per_day_usd=None)


def _nothing() -> None:
    """Close nothing: nothing is open."""

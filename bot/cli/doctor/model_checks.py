"""The checks of `triage doctor` about what a model needs: its address, its key, and the MCP servers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Final

from bot.adapters.anthropic_client import probe_model
from bot.casework.reports.health_checks import HealthCheck, well, wrong
from bot.cli.doctor.context import PATIENCE_S, DoctorContext
from bot.composition.model_access import unpriced
from bot.config.model_settings import McpServerSettings
from bot.errors import ProviderError, Unavailable

PRICE_FORM: Final = "{input: 1, output: 5, cache_read: 0.1, cache_write_5m: 1.25}"
_CLOUD_MODULES = {"bedrock": "botocore", "vertex": "google"}


def model(patient: DoctorContext) -> HealthCheck:
    """Whether the models can be reached; nothing is paid for."""
    settings, key = patient.settings(), patient.environment.anthropic_api_key
    name = settings.investigator.model
    if settings.provider != "anthropic":
        module = _CLOUD_MODULES.get(settings.provider)
        if module and find_spec(module) is None:
            fix = f"pip install 'anthropic[{settings.provider}]'"
            return wrong(f"provider {settings.provider} needs more packages", fix)
        return well(f"{name} at {settings.provider}, not contacted: it uses its own credentials")
    if key is None:
        return well("offline: no ANTHROPIC_API_KEY, a search over the code answers")
    try:
        address = settings.base_url or patient.environment.anthropic_base_url
        return well(probe_model(address, key.get_secret_value(), name, timeout_s=PATIENCE_S))
    except Unavailable as error:
        fix = "check the network and base_url in triage.yml or ANTHROPIC_BASE_URL; if both are right, wait"
        return wrong(str(error), fix)
    except ProviderError as error:
        fix = "correct ANTHROPIC_API_KEY in .env, or the model's name in triage.yml"
        return wrong(str(error), fix)


def prices(patient: DoctorContext) -> HealthCheck:
    """Whether the models of heartbeats have a price; without one a limit of spending refuses them at every beat."""
    settings = patient.settings()
    if settings.provider == "anthropic" and patient.environment.anthropic_api_key is None:
        return well("not needed: offline")
    missing = unpriced(settings)
    if not missing:
        return well("every model with a spending limit has a price")
    says = "; ".join(f"{model} has no price: {', '.join(who)} cannot use it" for model, who in missing.items())
    fix = f"under `pricing` in triage.yml: {next(iter(missing))}: {PRICE_FORM}, in USD per million tokens"
    return wrong(says, fix)


def mcp_servers(patient: DoctorContext) -> HealthCheck:
    """Whether every configured server starts and offers something that may be used."""
    servers = patient.settings().mcp_servers
    if not servers:
        return well("none are configured")
    with ThreadPoolExecutor(len(servers)) as pool:
        found = dict(zip(servers, pool.map(lambda item: _offers(patient, *item), servers.items()), strict=True))
    bad = [f"{name}: {says}" for name, (count, says) in found.items() if not count]
    if bad:
        fix = "start it by hand and read its output; under tools: list those that are not declared read-only"
        return wrong("; ".join(bad), fix)
    return well(", ".join(f"{name} ({count} tools)" for name, (count, _) in found.items()))


def _offers(patient: DoctorContext, name: str, one: McpServerSettings) -> tuple[int, str]:
    """Return how many tools a server offers to a model, and why there are none."""
    from bot.adapters.mcp.mcp_tools import McpServers
    from bot.agent.ledger import Ledger

    brief = one.model_copy(update={"timeout_s": min(one.timeout_s, PATIENCE_S)})
    environment = patient.environment
    servers = McpServers({name: brief}, environment.variables, known_secrets=environment.secrets())
    try:
        tools = servers.tools(Ledger())
    finally:
        servers.close()
    if len(tools) == 1 and tools[0].name == f"{name}__unavailable":
        return 0, "it cannot be started or reached"
    return len(tools), "it offers no tool that triage may use"

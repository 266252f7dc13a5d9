"""The checks of `triage doctor` about what triage works with: models, MCP servers, database and replicas.

They write nothing, and nothing is paid for.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from bot.adapters.anthropic_client import probe_model
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, well, wrong
from bot.composition.model_access import assumed_price, dear_first_looks, unpriced_models
from bot.config.model_settings import McpServerSettings
from bot.errors import ProviderError, Unavailable
from bot.ports.replicas import MAX_SKEW, Replica

if TYPE_CHECKING:
    from bot.adapters.storage.postgres.postgres_leases import DatabaseReport


PRICE_FORM: Final = "{input: 1, output: 5, cache_read: 0.1}"
_CLOUD_MODULES = {"bedrock": "botocore", "vertex": "google"}

MANY: Final = 0.8
"""Of the connections that the server takes."""


def model(context: DoctorContext) -> HealthCheck:
    """Whether the models can be reached; nothing is paid for."""
    settings, key = context.settings(), context.environment.anthropic_api_key
    name = settings.investigator.model
    if settings.provider != "anthropic":
        module = _CLOUD_MODULES.get(settings.provider)
        if module and find_spec(module) is None:
            fix = f"pip install 'anthropic[{settings.provider}]'"
            return wrong(f"provider {settings.provider} needs more packages", fix)
        return well(f"{name} at {settings.provider}, not contacted: it uses its own credentials")
    if key is None:
        return well(
            "offline: no ANTHROPIC_API_KEY; a search quotes code for questions in English or with names from it"
        )
    try:
        address = settings.base_url or context.environment.anthropic_base_url
        return well(probe_model(address, key.get_secret_value(), name, timeout_s=PATIENCE_S))
    except Unavailable as error:
        fix = "check the network and base_url in triage.yml or ANTHROPIC_BASE_URL; if both are right, wait"
        return wrong(str(error), fix)
    except ProviderError as error:
        fix = "correct ANTHROPIC_API_KEY in .env, or the model's name in triage.yml"
        return wrong(str(error), fix)


def prices(context: DoctorContext) -> HealthCheck:
    """Whether the models in use have a price, and the ones that look first are cheaper than those they spare.

    A model without a price counts at the dearest known one, so limits are met early.
    """
    settings = context.settings()
    if settings.provider == "anthropic" and context.environment.anthropic_api_key is None:
        return well("not needed: offline")
    looked = {name: settings.sessions[name].heartbeat for name in dear_first_looks(settings)}
    says = [f"{name}: heartbeat_model {one.heartbeat_model} is as dear as {one.model}" for name, one in looked.items()]
    fixes = ['name a cheaper heartbeat_model, or "" for none'] if looked else []
    if missing := unpriced_models(settings):
        dearest, price = assumed_price(settings)
        counted = f"counted as {dearest}, the dearest known model"
        cost = f"(${price.input:g} in, ${price.output:g} out per million tokens)"
        says.append(f"no price is known for {', '.join(missing)}; {counted} {cost}")
        fixes.append(f"under `pricing` in triage.yml: {missing[0]}: {PRICE_FORM}, in USD per million tokens")
    return wrong("; ".join(says), "; ".join(fixes)) if says else well("every model has a price")


def mcp_servers(context: DoctorContext, *, limit_s: float = PATIENCE_S) -> HealthCheck:
    """Whether every configured server starts within a limit and offers something that may be used."""
    servers = context.settings().mcp_servers
    if not servers:
        return well("none are configured")
    with ThreadPoolExecutor(len(servers)) as pool:
        offers = pool.map(lambda item: _offers(context, limit_s, *item), servers.items())
        found = dict(zip(servers, offers, strict=True))
    bad = [f"{name}: {says}" for name, (count, says) in found.items() if not count]
    if bad:
        fix = "start it by hand and read its output; under tools: list those that are not declared read-only"
        return wrong("; ".join(bad), fix)
    return well(", ".join(f"{name} ({count} tools)" for name, (count, _) in found.items()))


def _offers(context: DoctorContext, limit_s: float, name: str, one: McpServerSettings) -> tuple[int, str]:
    """Return how many tools a server offers to a model, and why there are none."""
    from bot.adapters.mcp.mcp_tools import McpServers

    environment = context.environment
    servers = McpServers({name: one}, environment.variables, known_secrets=environment.secrets(), timeout_s=limit_s)
    try:
        tools = servers.tools()
    finally:
        servers.close()
    if len(tools) == 1 and tools[0].name == f"{name}__unavailable":
        return 0, "it cannot be started or reached"
    return len(tools), "it offers no tool that triage may use"


def database(context: DoctorContext) -> HealthCheck:
    """Whether the database answers, has this release's tables, and takes more connections; raises NotReady."""
    report = context.database()
    return (
        well("none: TRIAGE_DATABASE_URL is not set, and state is kept in files")
        if report is None
        else connections(report)
    )


def connections(report: DatabaseReport) -> HealthCheck:
    """Whether a server that answers has the tables and takes more connections."""
    used = f"{report.connections} of {report.max_connections} connections in use"
    if report.connections > MANY * report.max_connections:
        fix = "raise max_connections in postgresql.conf and restart PostgreSQL, or run fewer replicas"
        return wrong(used, fix)
    if report.missing:
        says = f"PostgreSQL {report.server_version} without this release's tables ({len(report.missing)} steps missing)"
        return wrong(says, "start `triage run` of this release: it makes them")
    return well(f"PostgreSQL {report.server_version}, {used}")


def replicas(context: DoctorContext) -> HealthCheck:
    """Whether all that share the database are of one release and one time; raises NotReady."""
    report = context.database()
    return well("none: without a database one process works alone") if report is None else agreement(report)


def agreement(report: DatabaseReport) -> HealthCheck:
    """Whether clocks and releases agree."""
    alive = [replica for replica in report.replicas if replica.is_alive]
    clocks = {"the database": timedelta(), "this machine": report.clock_ahead}
    clocks |= {replica.name: replica.clock_ahead for replica in alive}
    first, last = min(clocks, key=clocks.__getitem__), max(clocks, key=clocks.__getitem__)
    if (apart := clocks[last] - clocks[first]) > MAX_SKEW:
        says = f"the clock of {last} is {apart.total_seconds():.0f} s ahead of that of {first}"
        return wrong(says, "set the clock on each machine: timedatectl set-ntp true")
    releases = _by_release(alive)
    if len(releases) > 1:
        says = "; ".join(f"triage {version} runs as {', '.join(names)}" for version, names in releases.items())
        return wrong(
            f"replicas run different releases: {says}", "install one release everywhere, and restart the others"
        )
    silent = "; ".join(replica.line for replica in report.replicas if not replica.is_alive)
    return well("; ".join(filter(None, (f"{len(alive)} alive", silent))))


def _by_release(replicas: list[Replica]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for replica in replicas:
        found[replica.version].append(replica.name)
    return dict(sorted(found.items()))

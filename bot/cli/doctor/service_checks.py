"""The checks of `triage doctor` about what triage works with: models, database and replicas.

They write nothing, and nothing is paid for.

The checks of `triage doctor` that ask Slack: tokens, scopes, clock, channels. They change nothing there.
"""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.adapters.anthropic_client import probe_model
from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, well, wrong
from bot.cli.doctor.machine_checks import process_check
from bot.cli.init import read_manifest
from bot.composition.investigators import assumed_price, dear_first_looks, unpriced_models
from bot.config.settings import Settings
from bot.errors import ProviderError, Unavailable
from bot.ports.system import MAX_SKEW, Replica
from handlers.transport.slack_clients import brief_client, header_of, translate_slack_errors
from handlers.transport.workspace import SlackWorkspace, why_unreadable

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


SKEW_S: Final = 60.0
"""Signed requests are refused beyond five minutes; a minute is time to act."""

REACTIONS: Final = "reactions:write"
_WITHOUT: Final = {REACTIONS: "askers see no reaction", "files:read": "no image is read"}
_REINSTALL: Final = "on the app's page: App Manifest, paste manifest.yml, then Install App > Reinstall"


def check_tokens(context: DoctorContext) -> HealthCheck:
    """Whether Slack knows both tokens; the app's own only while no bot runs: Slack counts those requests."""
    answer = _whoami(context)
    said = f"{answer.get('user', 'the bot')} in {answer.get('team', 'the workspace')}"
    settings = context.settings()
    if context.is_worker():
        lacking = "SLACK_SIGNING_SECRET" if settings.slack.mode == "http" else "SLACK_APP_TOKEN"
        return well(f"{said}; without {lacking} only `triage run --only work` starts here")
    if settings.slack.mode == "http" or process_check(context.store(), context.now).ok:
        return well(said)
    app_token = context.environment.slack_app_token
    assert app_token is not None
    with translate_slack_errors("take SLACK_APP_TOKEN"):
        _client(context).apps_connections_open(app_token=app_token.get_secret_value())
    return well(f"{said}; Socket Mode is on")


def scopes(context: DoctorContext) -> HealthCheck:
    """Whether the token has every scope of manifest.yml that the settings need."""
    granted = header_of(_whoami(context).headers, "x-oauth-scopes")
    wanted = _wanted(context.settings())
    if granted is None or wanted is None:
        why = "Slack did not list them" if granted is None else "manifest.yml was not found"
        return well(f"not compared: {why}")
    have = {scope.strip() for scope in granted.split(",")}
    missing, more = sorted(wanted - have), sorted(have - wanted)
    if missing:
        without = "".join(f"; without {scope} {then}" for scope, then in _WITHOUT.items() if scope in missing)
        return wrong(f"not granted: {', '.join(missing)}{without}", _REINSTALL)
    extra = f"; not needed: {', '.join(more)}" if more else ""
    return well(f"all {len(wanted)} of the manifest are granted{extra}")


def clock(context: DoctorContext) -> HealthCheck:
    """Whether this machine's clock is Slack's."""
    return skew(header_of(_whoami(context).headers, "date"), datetime.now(UTC))


def skew(date: str | None, now: datetime) -> HealthCheck:
    """Compare a clock with the Date header of an answer that has just arrived."""
    try:
        skew_s = (now - parsedate_to_datetime(date or "")).total_seconds()
    except (ValueError, TypeError):  # TypeError: a time without a zone
        return well("not compared: Slack's answer has no time")
    if abs(skew_s) < SKEW_S:
        return well(f"within {max(1, round(abs(skew_s)))} s of Slack's")
    side = "ahead of" if skew_s > 0 else "behind"
    return wrong(f"{abs(skew_s):.0f} s {side} Slack's", "set the clock: timedatectl set-ntp true")


def ops_channel(context: DoctorContext) -> HealthCheck:
    """Whether the ops channel is there, private, and the bot in it."""
    channel = context.settings().ops_channel
    client = _client(context)
    workspace = SlackWorkspace(client, team_id="")
    if not workspace.channel(channel).is_private:
        fix = "make it private, or name a private one as `ops_channel` in triage.yml"
        return wrong(f"{channel} is not private: everybody could read the drafts", fix)
    return well(f"{channel} is private")


def watched_chats(context: DoctorContext) -> HealthCheck:
    """Whether the bot is in every channel whose messages it is to read."""
    chats = context.settings().watched_chats
    if not chats:
        return well("none are configured; only mentions are answered")
    client = _client(context)
    with ThreadPoolExecutor(min(8, len(chats))) as pool:
        problems = [problem for problem in pool.map(partial(why_unreadable, client), chats) if problem]
    if not problems:
        return well(f"the bot is in all {len(chats)}" if len(chats) > 1 else "the bot is in it")
    fix = "type /invite @triage in each, or correct its id under watched_chats in triage.yml"
    return wrong("; ".join(problems), fix)


def _whoami(context: DoctorContext) -> SlackResponse:
    with translate_slack_errors("recognise the bot's token"):
        return _client(context).auth_test()


def _client(context: DoctorContext) -> WebClient:
    return brief_client(context.bot_token(), context.environment.slack_api_url, timeout_s=int(PATIENCE_S))


def _wanted(settings: Settings) -> frozenset[str] | None:
    """Return the scopes the app is to have, None where the manifest is not at hand."""
    manifest = read_manifest()
    if not manifest:
        return None
    unused = {REACTIONS} if settings.acknowledge != "reaction" else set[str]()
    return frozenset(manifest["oauth_config"]["scopes"]["bot"]) - unused

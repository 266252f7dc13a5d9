"""The checks of `triage doctor` that ask Slack: tokens, scopes, clock, channels. They change nothing there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Final

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.cli.doctor.context import PATIENCE_S, DoctorContext, HealthCheck, well, wrong
from bot.cli.doctor.state_checks import process_check
from bot.cli.init.files import read_manifest
from bot.config.settings import Settings
from handlers.transport.slack_clients import brief_client, header_of, translate_slack_errors
from handlers.transport.workspace import SlackWorkspace, why_unreadable

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

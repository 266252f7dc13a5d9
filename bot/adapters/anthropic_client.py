"""Builds the Anthropic SDK's client for each provider (the vendor, or one of three clouds), and checks that a model
answers.

Credentials that are not passed are the cloud's own: profiles, default credentials, its variables. The SDK's retries
are off; bot/agent/provider_errors.py makes them, because only it knows how long a run may last. The check costs
nothing, and its errors do not hold the key.
Source: GET /v1/models/{id}, https://docs.anthropic.com/en/api/models; other servers of the protocol often lack it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import requests

from bot.errors import ConfigError, ProviderError, Unavailable

if TYPE_CHECKING:
    from bot.agent.loop import Client


MAX_RETRIES: Final = 0
CONNECT_AND_SILENCE_S: Final = 600.0
"""The SDK's own limit; a run's limits are tighter."""

_NEEDS: Final = {
    "vertex": "needs CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID",
    "foundry": "needs ANTHROPIC_FOUNDRY_API_KEY, and either `base_url` or ANTHROPIC_FOUNDRY_RESOURCE",
}

VENDOR: Final = "https://api.anthropic.com"


def make_client(
    provider: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    region: str | None = None,
    project_id: str | None = None,
    resource: str | None = None,
) -> Client:
    """Return a client that has not connected yet.

    Args:
        provider: anthropic, bedrock, vertex or foundry.
        api_key: The key of anthropic or foundry, a bearer token of bedrock or vertex; None: the cloud's credentials.
        base_url: Another address that speaks the same protocol; None: the provider's own.
        region: The cloud's region, for bedrock and vertex.
        project_id: The Google project, for vertex.
        resource: The Azure resource, for foundry without `base_url`.

    Raises:
        ConfigError: something is missing, or there is no such provider; it says what to set or install.
    """
    import anthropic

    common: dict[str, Any] = {"max_retries": MAX_RETRIES, "timeout": CONNECT_AND_SILENCE_S, "base_url": base_url}
    try:
        match provider:
            case "anthropic":
                if not api_key:
                    raise ConfigError("ANTHROPIC_API_KEY is not set; without it only the offline investigator works")
                return anthropic.Anthropic(**common, api_key=api_key)
            case "bedrock":
                _require("bedrock", "botocore")
                return anthropic.AnthropicBedrock(**common, api_key=api_key, aws_region=region)
            case "vertex":
                if not api_key:
                    _require("vertex", "google.auth")
                where = {"region": region, "project_id": project_id}
                given: dict[str, Any] = {name: value for name, value in where.items() if value is not None}
                return anthropic.AnthropicVertex(**common, access_token=api_key, **given)
            case "foundry":
                return anthropic.AnthropicFoundry(**common, resource=resource, api_key=api_key)
    except (anthropic.AnthropicError, ValueError) as error:
        raise ConfigError(f"provider: {provider} {_NEEDS.get(provider, 'cannot be used')}") from error
    raise ConfigError(f"provider: {provider!r} is none of anthropic, bedrock, vertex, foundry")


def _require(provider: str, module: str) -> None:
    """Refuse a cloud whose own SDK is not installed, before a question depends on it."""
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ConfigError(f"provider: {provider} needs more packages; run `pip install 'anthropic[{provider}]'`")


def probe_model(base_url: str | None, key: str, model: str, *, timeout_s: float) -> str:
    """Return what was found in words.

    Raises:
        ProviderError: the key is refused, or the vendor knows no such model.
        Unavailable: nobody answers, or the other side is in trouble.
    """
    base = (base_url or VENDOR).rstrip("/")
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    try:
        answer = requests.get(
            f"{base}/v1/models/{quote(model, safe='')}", headers=headers, timeout=timeout_s, allow_redirects=False
        )
    except requests.RequestException:
        raise Unavailable(f"{base} cannot be reached") from None  # its text may hold the header
    if answer.ok and not answer.is_redirect:
        return f"{base} has {model}"
    if answer.status_code in (requests.codes.unauthorized, requests.codes.forbidden):
        raise ProviderError(f"{base} refuses the API key")
    if answer.status_code == requests.codes.too_many_requests or answer.status_code >= requests.codes.server_error:
        raise Unavailable(f"{base} answered HTTP {answer.status_code}")
    if base == VENDOR and answer.status_code == requests.codes.not_found:
        raise ProviderError(f"{base} knows no model {model}; correct `investigator.model` in triage.yml")
    return f"{base} answers; whether it has {model} it does not say"

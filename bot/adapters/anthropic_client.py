"""Builds the Anthropic SDK's client for each provider (the vendor, or one of three clouds), and checks that a model
answers.

Credentials that are not passed are the cloud's own: profiles, default credentials, its variables. The SDK's retries
are off; bot/agent/provider_errors.py makes them, because only it knows how long a run may last. The check costs
nothing, and its errors do not hold the key.
Source: GET /v1/models/{id}, https://docs.anthropic.com/en/api/models; other servers of the protocol often lack it.
"""

from __future__ import annotations

from collections.abc import Callable
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
    makers: dict[str, Callable[[dict[str, Any]], Client]] = {
        "anthropic": lambda common: _anthropic(common, api_key),
        "bedrock": lambda common: _bedrock(common, api_key, region),
        "vertex": lambda common: _vertex(common, api_key, region, project_id),
        "foundry": lambda common: _foundry(common, api_key, resource),
    }
    if provider not in makers:
        raise ConfigError(f"provider: {provider!r} is none of {', '.join(makers)}")
    common = {"max_retries": MAX_RETRIES, "timeout": CONNECT_AND_SILENCE_S, "base_url": base_url}
    return makers[provider](common)


def _anthropic(common: dict[str, Any], api_key: str | None) -> Client:
    if not api_key:
        raise ConfigError("ANTHROPIC_API_KEY is not set; without it only the offline investigator works")
    from anthropic import Anthropic

    return Anthropic(**common, api_key=api_key)


def _bedrock(common: dict[str, Any], api_key: str | None, region: str | None) -> Client:
    _require("bedrock", "botocore")
    from anthropic import AnthropicBedrock

    return AnthropicBedrock(**common, api_key=api_key, aws_region=region)


def _vertex(common: dict[str, Any], token: str | None, region: str | None, project_id: str | None) -> Client:
    if not token:
        _require("vertex", "google.auth")
    from anthropic import AnthropicVertex

    where: dict[str, Any] = {"region": region, "project_id": project_id}
    try:
        return AnthropicVertex(
            **common, access_token=token, **{name: value for name, value in where.items() if value is not None}
        )
    except ValueError as error:
        raise ConfigError("provider: vertex needs CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID") from error


def _foundry(common: dict[str, Any], api_key: str | None, resource: str | None) -> Client:
    from anthropic import AnthropicError, AnthropicFoundry

    try:
        return AnthropicFoundry(**common, resource=resource, api_key=api_key)
    except (AnthropicError, ValueError) as error:
        raise ConfigError(
            "provider: foundry needs ANTHROPIC_FOUNDRY_API_KEY, and either `base_url` or ANTHROPIC_FOUNDRY_RESOURCE"
        ) from error


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

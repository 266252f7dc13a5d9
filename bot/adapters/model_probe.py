"""Asks a model's address whether it is there and knows the model; costs nothing. The key stands in no error.

Source: GET /v1/models/{id}, https://docs.anthropic.com/en/api/models; others that speak the protocol often lack it.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import requests

from bot.errors import ProviderError, Unavailable

VENDOR: Final = "https://api.anthropic.com"


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

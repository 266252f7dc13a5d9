"""Port Attachments over Slack: what a file of a message holds, read with the bot's token (scope `files:read`).

The address of a remote file is anybody's, so the token goes to Slack's own hosts only, and no redirect leaves them.
What a file is, its bytes say.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin, urlsplit

import requests
from slack_sdk import WebClient

from bot.domain.secrets import redact
from bot.domain.text.sanitize import storable
from bot.errors import ProviderError
from bot.ports import Image
from handlers.transport.slack_clients import translate_slack_errors

MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024 * 3 // 4
"""What the model's API takes: 5 MiB in base64.  Source: its refusals ("5272940 bytes > 5242880 bytes")"""

MAX_TEXT_BYTES: Final = 100_000
TIMEOUT_S: Final = 20.0
PART_BYTES: Final = 65_536
_SLACKS: Final = (".slack.com", ".slack-gov.com")
_STARTS: Final = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class SlackAttachments:
    """Files as Slack keeps them; `client` is whose token is sent."""

    def __init__(self, client: WebClient, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._client, self._monotonic = client, monotonic

    def image(self, file_id: str) -> Image:
        """Return an image; raises ProviderError for any other file, and one that is too large."""
        data = self._beginning(file_id, MAX_IMAGE_BYTES + 1)
        if len(data) > MAX_IMAGE_BYTES:
            raise ProviderError(f"the image has more than {MAX_IMAGE_BYTES:,} bytes")
        return Image(media_type=_media_type(data), data=data)

    def text(self, file_id: str) -> str:
        """Return the first `MAX_TEXT_BYTES` of a file, credentials removed; raises ProviderError if it is no text."""
        data = self._beginning(file_id, MAX_TEXT_BYTES)
        if b"\0" in data:
            raise ProviderError("the file is no text")
        return redact(storable(data.decode("utf-8", "replace")))

    def _beginning(self, file_id: str, limit: int) -> bytes:
        with translate_slack_errors("read a file"):
            url = str(self._client.files_info(file=file_id)["file"]["url_private"])
            until, data = self._monotonic() + TIMEOUT_S, bytearray()
            with self._opened(url) as answer:
                for part in answer.iter_content(PART_BYTES):
                    data += part
                    if self._monotonic() > until:
                        raise TimeoutError("the file comes too slowly")
                    if len(data) >= limit:
                        break
            return bytes(data[:limit])

    def _opened(self, url: str) -> requests.Response:
        """Return the answer of an address; one redirect is followed, where the token may go there."""
        headers = {"Authorization": f"Bearer {self._client.token}"}
        for _ in range(2):
            self._refuse_foreign(url)
            answer = requests.get(url, headers=headers, timeout=TIMEOUT_S, stream=True, allow_redirects=False)
            if not answer.is_redirect:
                break
            url = urljoin(url, answer.headers["location"])
        answer.raise_for_status()
        return answer

    def _refuse_foreign(self, url: str) -> None:
        """Raise ProviderError for an address that is neither Slack's nor that of the API in use."""
        if not (url.isascii() and (_is_slacks(url) or _place(url) == _place(self._client.base_url))):
            raise ProviderError("the file is kept elsewhere than at Slack", code="foreign_file")


def _is_slacks(url: str) -> bool:
    """Whether an address is Slack's, or of one of its workspaces.

    >>> [_is_slacks(f"https://{host}/a.png") for host in ("files.slack.com", "files.slack.com@x.io", "xslack.com")]
    [True, False, False]
    """
    scheme, host = _place(url)
    return scheme == "https" and f".{host}".endswith(_SLACKS)


def _place(url: str) -> tuple[str, str]:
    """Return scheme and host, with the port where there is one; no host for an address that names an account."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return parts.scheme, "" if "@" in parts.netloc else parts.netloc


def _media_type(data: bytes) -> str:
    """Return what an image is by its first bytes; raises ProviderError for what no model can be shown."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for start, kind in _STARTS.items() if data.startswith(start)), None)
    if found is None:
        raise ProviderError("the file is no PNG, JPEG, GIF or WebP")
    return found

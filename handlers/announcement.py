"""One line in the ops channel before there is a bot, for what keeps it from starting."""

from __future__ import annotations

import logging

from blocks.text import escape
from blocks.times import with_local_times
from bot.environment import Environment, require_tokens
from bot.errors import ProviderError
from handlers.transport import posting_client, translated

log = logging.getLogger(__name__)


def announce(ops_channel: str, environment: Environment, text: str) -> None:
    """Say the line; a chat that does not take it is only logged.

    Raises:
        ConfigError: the tokens cannot be used.
    """
    bot_token, _ = require_tokens(environment)
    try:
        with translated("tell the ops channel", posting=True):
            posting_client(bot_token, environment.slack_api_url).chat_postMessage(
                channel=ops_channel, text=with_local_times(escape(text)), unfurl_links=False
            )
    except ProviderError:
        log.warning("the ops channel was not told", extra={"action": "ops_untold"}, exc_info=True)

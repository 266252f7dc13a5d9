"""The settings of MCP servers, for readers above the settings; bot/settings.py imports bot.domain.mcp_config."""

from bot.domain.mcp_config import McpConfig, McpServerName, McpServerSettings

__all__ = ["McpConfig", "McpServerName", "McpServerSettings"]

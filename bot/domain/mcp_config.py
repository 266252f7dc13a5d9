"""What an operator says of an MCP server: how to reach it, and which of its tools a model may use.

Pure values; no secret stands in them. Tokens are named, as variables of the environment, and read by the adapter.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""How a header names a variable of the environment: `Bearer ${GRAFANA_TOKEN}`."""

McpServerName = Annotated[str, Field(pattern=r"^[a-z0-9]+(?:[_-][a-z0-9]+)*$", max_length=32)]
"""A server's name prefixes its tools (`grafana__query`), so it holds no double underscore."""

_EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
_HeaderValue = Annotated[str, Field(pattern=r"^[\x20-\x7e]*$")]
_Argument = Annotated[str, Field(pattern=r"^[^\x00]*$")]
_Url = Annotated[str, Field(pattern=r"^https?://[^\s/@?#]+(?:[/?#][^\s@]*)?$")]


class McpServerSettings(BaseModel):
    """One server: a `command` started as a child process, or a `url` spoken to by streamable HTTP."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    command: tuple[_Argument, ...] | None = None
    """The argument list of the process; never a shell line."""
    cwd: Path | None = None
    """The folder the process starts in."""
    env: tuple[_EnvName, ...] = ()
    """Names of variables the process may see, besides PATH, HOME and the like; absent ones are left out."""
    url: _Url | None = None
    """Where the server listens; credentials belong in a header."""
    headers: dict[_HeaderName, _HeaderValue] = {}
    """Values name a variable of the environment: `Authorization: Bearer ${GRAFANA_TOKEN}`."""
    tools: tuple[str, ...] | None = None
    """The tools that are offered; absent: those the server itself declares read-only."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Seconds that connecting, listing and each call may take."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either a command or a url")
        if self.command is not None and not (self.command and self.command[0].strip()):
            raise ValueError("command is empty; give the program and its arguments as a list")
        if self.url is None and self.headers:
            raise ValueError("headers belong to a url; a command takes its secrets from env")
        if self.command is None and (self.env or self.cwd):
            raise ValueError("env and cwd belong to a command; a url takes its secrets from headers")
        if literal := [name for name, value in self.headers.items() if not VARIABLE.search(value)]:
            raise ValueError(f"the header {literal[0]} must take its value from the environment, as in ${{NAME}}")
        return self

    def variables(self) -> frozenset[str]:
        """Return the names of the variables that the headers need."""
        return frozenset(name for value in self.headers.values() for name in VARIABLE.findall(value))


McpConfig = dict[McpServerName, McpServerSettings]
"""The servers by name, as `mcp_servers` in triage.yml has them."""

"""The commands a task names that its session does not allow, and the line of triage.yml that would. Pure."""

from __future__ import annotations

from bot.errors import ConfigError
from bot.heartbeat.commands import FLAGS_COMMAND, Argv, commands_in, config_line, is_allowed
from bot.heartbeat.session import Session


def not_allowed(session: Session, *lines: str) -> tuple[Argv, ...]:
    """Return the commands in a task's lines that the session does not allow; code itself answers for the flags."""
    named = [argv for argv in commands_in(lines) if argv != FLAGS_COMMAND]
    return tuple(argv for argv in named if not is_allowed(argv, session.beat.commands, session.cwd))


def not_run(argv: Argv) -> str:
    """Return what an owner does to let a command run without a model."""
    written = " ".join(argv)
    try:
        line = config_line(argv)
    except ConfigError as error:
        return f"not run: `{written}`; it cannot be allowed: {error}"
    return f"not run: `{written}`; to allow it add this line to `commands` of the session in triage.yml: `{line}`"

"""What commands are made of: the options that several share, and a command with verbs such as `triage heartbeat list`.

It imports Click and one helper for words: who types `triage --version`, `--help` or `triage classify` does not wait for
the bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from bot.domain.text.humanize import near_ones

FILE: Final = click.Path(path_type=Path)
"""A path of a file or folder; whether it is there is for the command to say."""

home_option = click.option(
    "--home", type=FILE, metavar="DIR", help="data directory (default: TRIAGE_HOME, then ~/.triage)"
)
config_option = click.option(
    "--config", type=FILE, metavar="FILE", help="default: ./triage.yml, then triage.yml in the data directory"
)
team_option = click.option("--team", metavar="NAME", help="where several teams share the bot: the one that is meant")
json_option = click.option("--json", "as_json", is_flag=True, help="for programs: JSON on stdout")


class VerbGroup(click.Group):
    """A command with verbs; where `list` is one of them, it is meant where none is given."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is Click's
        """Return the verbs in the order they are written in."""
        return list(self.commands)

    def help_of(self, verb: str) -> str:
        """Return what a verb does, in one line."""
        return self.commands[verb].help or ""

    def near(self, word: str, known: Sequence[str]) -> Sequence[str]:
        """Return what somebody may have meant by an unknown verb."""
        return near_ones(word, known)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put in the verb that may be left out, or ask for help."""
        names_a_verb = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        if "list" in self.commands and not names_a_verb:
            args = ["list", *args]
        elif not args and not self.invoke_without_command:
            args = ["--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb and what follows it; an unknown one is a usage error that names the near ones."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            near = [f"`{words_to_type(ctx)} {one}`" for one in self.near(name, known)]
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(known)}."
            ctx.fail(f"there is no command {name[:40]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, each with the whole of what it does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.help_of(name)) for name in self.list_commands(ctx)])


def words_to_type(ctx: click.Context) -> str:
    """Return the words of a command without its arguments, such as "triage heartbeat why"."""
    return f"{words_to_type(ctx.parent)} {ctx.info_name}" if ctx.parent else str(ctx.info_name)

"""The terminal's commands, as Click knows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from bot.__main__ import COMMANDS, command_of, purpose_of
from reference.markdown import code, table


def terminal_part() -> str:
    """Return a section for each command: how it is written, what it does, its options."""
    return "\n\n".join(_section(name, purpose_of(name)) for name in COMMANDS)


def verbs_of(command: click.Command) -> Mapping[str, click.Command]:
    """Return a command's verbs."""
    return command.commands if isinstance(command, click.Group) else {}


def options_of(command: click.Command) -> frozenset[str]:
    """Return every option a command or one of its verbs takes."""
    inner = [options_of(verb) for verb in verbs_of(command).values()]
    own = [name for option in _options(command) for name in option.opts]
    return frozenset(["--help", "-h", *own]).union(*inner)


def arguments_of(command: click.Command) -> list[click.Argument]:
    """Return what is typed behind a command without an option's name; with verbs, before the verb."""
    return [each for each in command.params if isinstance(each, click.Argument)]


def _section(name: str, what: str) -> str:
    command = command_of(name)
    verbs = verbs_of(command)
    form = _form(f"triage {name}", command)
    forms = [[code(_form(f"{form} {verb}", each)), each.help or ""] for verb, each in verbs.items()]
    if not forms or command.params:
        forms.insert(0, [code(form), what])
    rows = list(dict.fromkeys(row for each in (command, *verbs.values()) for row in _rows(each)))
    parts = [f"### {code(f'triage {name}')}", table(["you type", "what it does"], forms)]
    if rows:
        parts.append(table(["with", "meaning"], rows))
    return "\n\n".join(parts)


def _form(words: str, command: click.Command) -> str:
    return " ".join([words, *map(_placeholder, arguments_of(command))])


def _options(command: click.Command) -> Iterator[click.Option]:
    return (each for each in command.params if isinstance(each, click.Option))


def _placeholder(argument: click.Argument) -> str:
    name = f"<{argument.metavar or argument.name}>".lower()
    if isinstance(argument.type, click.Choice):
        name = "|".join(argument.type.choices)
    many = f"{name} …" if argument.nargs == -1 else name
    return many if argument.required else f"[{many}]"


def _rows(command: click.Command) -> Iterator[tuple[str, str]]:
    for argument in arguments_of(command):
        if argument.help:
            yield code(_placeholder(argument)), argument.help
    for option in _options(command):
        yield code(" ".join(filter(None, [", ".join(option.opts), _value(option)]))), option.help or ""


def _value(option: click.Option) -> str:
    """Return what follows an option: nothing, a value, or one that may be left out."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return "|".join(option.type.choices)
    name = option.metavar or str(option.name).upper()
    return f"[{name}]" if option._flag_needs_value else name

"""The terminal's commands, as Click knows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from bot.__main__ import COMMANDS, command_of, purpose_of
from bot.domain.command_specs import manual
from reference.markdown import code

_SHARED: Final = 4
"""An option that so many commands take in the same words is described once."""


def terminal_part() -> str:
    """Return every command with what it does and its options; what several commands take stands once, below them."""
    commands = {name: command_of(name) for name in COMMANDS}
    taken = Counter(row for command in commands.values() for row in _all_rows(command))
    shared = [row for row, count in taken.items() if count >= _SHARED]
    same = [name for name in COMMANDS if name in manual() and not _own_rows(commands[name], shared)]
    parts = [_section(name, purpose_of(name), commands[name], shared) for name in COMMANDS if name not in same]
    parts.append(f"- as in Slack: {', '.join(code(f'triage {name}') for name in same)}")
    return "\n".join([*parts, "", "Many commands take:", "", *(f"- {form}: {meaning}" for form, meaning in shared)])


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


def _section(name: str, what: str, command: click.Command, shared: Sequence[tuple[str, str]]) -> str:
    verbs = verbs_of(command)
    form = _form(f"triage {name}", command)
    forms = [(_form(f"{form} {verb}", each), each.help or "") for verb, each in verbs.items()]
    if not forms or command.params:
        forms.insert(0, (form, what))
    lines = [f"- {code(each)}: {said}" for each, said in forms]
    lines += [f"  - {each}: {said}" for each, said in _own_rows(command, shared)]
    return "\n".join(lines)


def _own_rows(command: click.Command, shared: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [row for row in _all_rows(command) if row not in shared]


def _all_rows(command: click.Command) -> list[tuple[str, str]]:
    """Return the options of a command and of its verbs, each once."""
    return list(dict.fromkeys(row for each in (command, *verbs_of(command).values()) for row in _rows(each)))


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

"""The terminal's commands, from their argparse parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from bot.__main__ import COMMANDS, parser_of
from reference.markdown import code, table

Parser = argparse.ArgumentParser


def terminal_part() -> str:
    """Return a section for each command: how it is written, what it does, its options."""
    return "\n\n".join(_section(name, what) for name, what in COMMANDS.items())


def verbs_of(parser: Parser) -> Mapping[str, Parser]:
    """Return a command's subcommands."""
    return next((each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)), {})


def options_of(parser: Parser) -> frozenset[str]:
    """Return every option a command or one of its subcommands takes."""
    inner = [options_of(verb) for verb in verbs_of(parser).values()]
    return frozenset(parser._option_string_actions).union(*inner)


def _section(name: str, what: str) -> str:
    parser = parser_of(name)
    verbs = verbs_of(parser)
    forms = [[code(_form(verb)), verb.description or ""] for verb in verbs.values()] or [[code(_form(parser)), what]]
    rows = list(dict.fromkeys(row for each in (parser, *verbs.values()) for row in _rows(each)))
    parts = [f"### {code(f'triage {name}')}", table(["you type", "what it does"], forms)]
    if rows:
        parts.append(table(["with", "meaning"], rows))
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```")
    return "\n\n".join(parts)


def _form(parser: Parser) -> str:
    return " ".join([parser.prog, *(_placeholder(each) for each in _arguments(parser) if not each.option_strings)])


def _arguments(parser: Parser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # argparse shows them nowhere else
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            yield action


def _placeholder(action: argparse.Action) -> str:
    name = _name(action)
    many = f"{name} …" if action.nargs in ("*", "+") and not name.endswith("…") else name
    return f"[{many}]" if action.nargs in ("*", "?") else many


def _rows(parser: Parser) -> Iterator[tuple[str, str]]:
    for action in _arguments(parser):
        if action.help:
            value = "" if action.nargs == 0 else _placeholder(action)
            yield code(" ".join(filter(None, [", ".join(action.option_strings), value]))), action.help


def _name(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices:
        return "|".join(map(str, action.choices))
    return action.dest.upper() if action.option_strings else f"<{action.dest}>"

"""The commands of `/triage`, from the manual that help itself reads."""

from __future__ import annotations

from bot.domain.command_specs import OF_TEAMS, manual
from reference.markdown import code, plain


def slash_part() -> str:
    """Return every command and subcommand with who may type it, and what several teams make of them."""
    lines = [
        f"- {code(f'/triage {entry.form}')}: {plain(entry.does)} ({plain(entry.who_words)})"
        for entry in manual().values()
    ]
    return "\n".join([*lines, "", OF_TEAMS])


def slash_problem(words: list[str]) -> str | None:
    """Return what is wrong with the words behind `/triage`, as a page names them; None for nothing.

    >>> slash_problem(["heartbeat", "on|off", "<session>"]), slash_problem(["tiers", "shop", "ad", "hourly"])
    (None, 'there is no `/triage tiers … ad`')
    """
    words = words[1:] if words[0] == "<team>" and len(words) > 1 else words
    if words[0] not in manual():
        return f"there is no `/triage {words[0]}`"
    place = _place_of_verb(words[0])
    named = words[place].split("|") if place is not None and len(words) > place else []
    verbs = [path.partition(" ")[2] for path in manual() if path.startswith(f"{words[0]} ")]
    wrong = next((word for word in named if word.isascii() and word.isalpha() and word not in (*verbs, "help")), None)
    return f"there is no `/triage {words[0]} {'… ' * (place == 2)}{wrong}`" if wrong else None


def _place_of_verb(command: str) -> int | None:
    """Return which word names the subcommand: of `tiers <session> add` the third."""
    inner = next((entry for path, entry in manual().items() if path.startswith(f"{command} ")), None)
    return inner.form.split().index(inner.path.split()[1]) if inner else None

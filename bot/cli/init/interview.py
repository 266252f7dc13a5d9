"""Asks the questions of `triage init`: what is given is not asked, what is there already is proposed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.cli.init.questions import OF_ALL, OF_SESSIONS, OF_TEAM, SECRETS, Answers, InitQuestion
from bot.cli.output import wrapped
from bot.config.team_settings import check_team_id
from bot.errors import InputError

Read = Callable[[str], str]
NONE: Final = "-"
"""What is typed for "none" where something is proposed."""

_OF_THE_ONLY_TEAM: Final = {"ops": "ops_channel", "channels": "watch", "approvers": "approvers"}
_WORD_OF_TEAM: Final = re.compile(r"([a-z]+)=(\S*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Texts:
    """Answers as text: of the whole bot by question, of each team by question; `kept` sessions no answer can say."""

    of_all: Mapping[str, str] = field(default_factory=dict)
    of_team: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    kept: tuple[str, ...] = ()

    def split_into(self, teams: Sequence[str]) -> Texts:
        """Return the answers of one team as those of the first of several; of several teams, the same."""
        if not teams or self.of_team or "ops_channel" not in self.of_all:
            return self
        first = {key: self.of_all.get(own, "") for key, own in _OF_THE_ONLY_TEAM.items()}
        return Texts(of_all={**self.of_all, "session_teams": teams[0]}, of_team={teams[0]: first}, kept=self.kept)


class Interview:
    """One run of the questions; `read` is None where nobody can be asked.

    What cannot be used is asked for again, or refused where it was given or nobody can be asked.
    """

    def __init__(
        self, given: Texts, proposed: Texts, read: Read | None, hidden: Read, say: Callable[[str], object]
    ) -> None:
        self._given, self._proposed, self._read, self._hidden, self._say = given, proposed, read, hidden, say

    def answers(self, *, offline: bool, secrets: bool) -> dict[str, Any]:
        """Return all answers by key, each team's under `teams`; `offline`: remotes are not asked.

        Raises:
            InputError: an answer that was given cannot be used, or one is missing and nobody can be asked.
            EOFError: the input ended.
        """
        answers: dict[str, Any] = {"offline": offline, "teams": {}, "kept": self._proposed.kept}
        self._all(OF_ALL, answers)
        self._proposed = self._proposed.split_into(answers["team_names"])
        for name in answers["team_names"]:
            self._team(name, answers)
        if strange := [name for name in self._given.of_team if name not in answers["teams"]]:
            raise InputError(f"--team {strange[0]}: it is not among the teams; nothing was written")
        self._all(OF_SESSIONS, answers)
        self._all(SECRETS if secrets else (), answers)
        return answers

    def _all(self, questions: Iterable[InitQuestion], answers: dict[str, Any]) -> None:
        for question in questions:
            name = question.key if question.key.isupper() else f"--{question.key.replace('_', '-')}"
            given, proposed = self._given.of_all.get(question.key), self._proposed.of_all.get(question.key)
            if not question.when(answers):
                if given:
                    raise InputError(f"{name} is of no use with the other answers; {question.otherwise}")
                answers[question.key] = None
                continue
            answers[question.key] = self._one(question, name, given, proposed, lambda _: answers)

    def _team(self, name: str, answers: dict[str, Any]) -> None:
        proposed = {"language": answers["language"], **self._proposed.of_team.get(name, {})}
        team: dict[str, Any] = {}
        answers["teams"][name] = team

        def beside(key: str) -> Callable[[Any], Answers]:
            return lambda value: {**answers, "teams": {**answers["teams"], name: {**team, key: value}}}

        for question in OF_TEAM:
            given = self._given.of_team.get(name, {}).get(question.key)
            label = f"--team {name}: {question.key}"
            if given is None and not question.when(answers):
                team[question.key] = None
                continue
            lead = "" if question.key != OF_TEAM[0].key else "\n"
            asked = f"{lead}{name}: {question.asks}"
            team[question.key] = self._one(
                question, label, given, proposed.get(question.key), beside(question.key), asked
            )

    def _one(
        self,
        question: InitQuestion,
        name: str,
        given: str | None,
        proposed: str | None,
        beside: Callable[[Any], Answers],
        asks: str | None = None,
    ) -> Any:
        """Return the value of what is given, typed or proposed; `beside` makes the answers it has to go with."""
        default = proposed if proposed else question.default
        if given is not None or self._read is None:
            return _usable(question, name, default if given is None else given, beside)
        shown = f" [{default}]" if default else ""
        read = self._hidden if question.is_secret else self._read
        while True:
            text = read(f"{asks or question.asks}{shown}: ").strip() or (default or "")
            try:
                return _taken(question, "" if text == NONE else text, beside)
            except ValueError as error:
                self._say(wrapped(str(error), lead="  "))


def _usable(question: InitQuestion, name: str, text: str | None, beside: Callable[[Any], Answers]) -> Any:
    if text is None:
        raise InputError(f"{name} is missing; nothing was written. `triage init --help` lists the options")
    try:
        return _taken(question, text.strip(), beside)
    except ValueError as error:
        raise InputError(f"{name}: {error}; nothing was written") from error


def _taken(question: InitQuestion, text: str, beside: Callable[[Any], Answers]) -> Any:
    value = question.take(text)
    question.check(value, beside(value))
    return value


def read_team_options(options: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return what `payments ops=C0PAYOPS channels=C0PAY=pay` says, by team and question.

    Raises:
        InputError: an option is of another form.
    """
    keys = [question.key for question in OF_TEAM]
    teams: dict[str, dict[str, str]] = {}
    for option in options:
        name, *words = option.split()[:50] or [""]
        try:
            check_team_id(name)
        except ValueError as error:
            raise InputError(f"--team: {error}; nothing was written") from error
        found = [_WORD_OF_TEAM.fullmatch(word) for word in words]
        wrong = next(
            (word for word, match in zip(words, found, strict=True) if not match or match[1] not in keys), None
        )
        if wrong is not None or name in teams:
            problem = f"{wrong[:60]!r} is not understood" if wrong is not None else "it is named twice"
            raise InputError(
                f"--team {name}: {problem}; say it once, as in --team 'payments ops=C0PAYOPS approvers=S0PAY "
                f"channels=C0PAY=payments,C0PAY2 codebases=shop,billing language=de'; nothing was written"
            )
        teams[name] = {match[1]: match[2] for match in found if match}
    return teams

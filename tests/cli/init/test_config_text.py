"""What `triage init` makes of answers: whatever they are, the file reads back as the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cli.init.config_text import Proposals, config_of, patched, read_proposals, rendered, with_fitting_places
from bot.cli.init.interview import Interview, Texts
from bot.config.settings import load_settings
from tests.gitrepo import make_repo

CHATS = [f"C0{letter * 3}" for letter in "ABCDEFGH"]
PEOPLE = ["U0ANN", "U0BEN", "S0ONCALL"]
URLS = ["git@git.example.com:acme/infra.git", "https://git.example.com/acme/x-y.git", "ssh://git@host:22/a/b.git"]
names = st.sampled_from(["payments", "no", "1", "null", "web-2", "y"])
words = st.sampled_from(["help", "eng", "no", "12", "a: b"]).map(lambda word: word.replace(" ", "")) | st.just("")
approvers = st.lists(st.sampled_from(PEOPLE), max_size=2, unique=True).map(", ".join) | st.just("nobody")
languages = st.sampled_from(["en", "de", "no"])


@st.composite
def team_texts(draw: st.DrawFn, ops: str, chats: list[str], codebases: list[str]) -> dict[str, str]:
    """Draw what is said of one team, over channels of its own."""
    picked = draw(st.lists(st.sampled_from(codebases), unique=True)) if len(codebases) > 1 else []
    return {
        "ops": ops,
        "approvers": draw(approvers),
        "channels": ", ".join(f"{chat}={name}" if (name := draw(words)) else chat for chat in chats),
        "codebases": ", ".join(picked),
        "language": draw(languages),
    }


@st.composite
def answered(draw: st.DrawFn, folder: Path) -> Texts:
    """Draw answers that go together: one team or several, one codebase or several, with sessions or without."""
    ids = draw(st.lists(st.sampled_from(["shop", "no", "on", "null_", "in-fra"]), min_size=1, max_size=3, unique=True))
    places = [draw(st.sampled_from([str(folder / "code"), str(folder / "it's #1"), *URLS])) for _ in ids]
    is_short = draw(st.booleans()) and places[0].startswith("/")
    codebase = places[0] if is_short else ", ".join(f"{name}={one}" for name, one in zip(ids, places, strict=True))
    chats = draw(st.permutations(CHATS))
    teams = draw(st.lists(names, max_size=3, unique=True))
    of_all = {"codebase": codebase, "team_names": ", ".join(teams), "language": draw(languages)}
    if not teams:
        watch = ", ".join(f"{chat}={name}" if (name := draw(words)) else chat for chat in chats[1:3])
        of_all |= {"ops_channel": chats[0], "watch": watch, "approvers": draw(approvers)}
    if draw(st.booleans()):
        of_all |= {"sessions": f"code={folder / 'code'}, x={folder}", "owner": "U0ANN, x=S0ONCALL"}
        of_all |= {"session_teams": teams[-1]} if len(teams) > 1 else {}
    known = [""] if is_short else ids
    of_team = {
        name: draw(team_texts(chats[2 * number], [chats[2 * number + 1]], known)) for number, name in enumerate(teams)
    }
    return Texts(of_all=of_all, of_team=of_team)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two checkouts."""
    place = tmp_path_factory.mktemp("init")
    for name in ("code", "it's #1"):
        make_repo(place / name, {"a.py": "A = 1\n"})
    return place


def values_of(given_: Texts, proposed: Texts) -> dict[str, Any]:
    """Return the values of texts that nobody is asked about."""
    return Interview(given_, proposed, None, input, print).answers(offline=True, secrets=False)


def written(folder: Path, answers: dict[str, Any], there: Proposals) -> Proposals:
    """Write what answers make of a triage.yml, and return what it proposes."""
    config = with_fitting_places(patched(there.config, there.spoken_of, config_of(answers, there.config)))
    path = folder / "triage.yml"
    path.write_text(rendered(config), encoding="utf-8")
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == config
    return read_proposals(path)


def said_by(texts: Texts, answers: dict[str, Any]) -> dict[str, Any]:
    """Return values without what only the asking needs, and who owns a session by the session's name."""
    sessions = answers["sessions"]
    each = {key: answers[key] or {} for key in ("owner", "session_teams")}
    named = {key: {name: by.get(name, by.get("")) for name in sessions} for key, by in each.items()}
    return {key: value for key, value in {**answers, **named}.items() if key != "offline"}


FEWER = settings(max_examples=settings().max_examples // 2)
"""Each writes files and reads them again."""


@FEWER
@given(data=st.data())
def test_what_is_written_reads_back_as_the_same_values(folder: Path, data: st.DataObject) -> None:
    """By the bot, and as proposals of a second run, which then changes nothing."""
    texts = data.draw(answered(folder))
    answers = values_of(texts, Texts())
    found = written(folder, answers, Proposals())
    again = values_of(Texts(), found.answers)
    assert said_by(texts, again) == said_by(texts, answers)
    assert patched(found.config, found.spoken_of, config_of(again, found.config)) == found.config
    read = load_settings(folder / "triage.yml")
    assert list(read.teams) == answers["team_names"]
    for name, team in answers["teams"].items():
        own = read.by_team()[name]
        assert (own.ops_channel, own.team_language) == (team["ops"], team["language"])
        assert own.approvers == (None if team["approvers"] is None else tuple(team["approvers"]))
        assert [chat.chat_id for chat in own.watched_chats] == [chat["chat_id"] for chat in team["channels"]]
        assert list(own.codebases) == [one for one in read.codebases if one in (team["codebases"] or read.codebases)]


KEPT = {
    "budget": {"per_day_usd": 20},
    "tone": "Short.\n\nteams:\n  x: y",
    "brief": {"morning": "08:30"},
    "classifier": {"question_keywords": ["no", "12"]},
}


@FEWER
@given(data=st.data())
def test_a_second_run_changes_what_was_answered_and_nothing_else(folder: Path, data: st.DataObject) -> None:
    """Whatever the first and the second answers are; keys that no question is about stay."""
    first = written(folder, values_of(data.draw(answered(folder)), Texts()), Proposals())
    with (folder / "triage.yml").open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump(KEPT))
    there = read_proposals(folder / "triage.yml")
    assert there.answers == first.answers
    texts = data.draw(answered(folder))
    answers = values_of(texts, Texts())
    found = written(folder, answers, there)
    assert {key: found.config[key] for key in KEPT} == KEPT
    assert said_by(texts, values_of(Texts(), found.answers)) == said_by(texts, answers)

"""The codebases of the process while triage.yml is read again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.composition.codebases import OpenCodebase, ProcessCode
from bot.config.codebase_settings import CodebaseSettings
from bot.config.settings import load_settings
from bot.errors import InputError
from tests.gitrepo import make_repo


class Clones:
    """Counts how often somebody would have fetched."""

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        self.ticks += 1

    def follow(self, given: object) -> None:
        """Nothing is kept."""


def test_no_clone_is_begun_before_the_teams_know_of_it() -> None:
    """One that failed at once would be told of while no team reads it, so to nobody, and never again."""
    clones = Clones()
    code = ProcessCode({}, lambda name, one: None, clones)
    with code.reopened(SimpleNamespace(all_codebases={})):
        code.fetch()
        assert clones.ticks == 0
    code.fetch()
    assert clones.ticks == 1


TEAMS = """
codebases: {shop: {path: shop}, infra: {path: infra}}
teams:
  pay: {ops_channel: C0PAY, codebases: [shop], approvers: [U0ANA]}
  plat: {ops_channel: C0PLAT, codebases: [infra], approvers: [U0BEN]}
sessions:
  tills: {cwd: tills, team: pay, owner: U0ANA}
  watch: {cwd: infra, team: plat, owner: U0BEN}
  shop: {cwd: machines, team: plat, owner: U0BEN}
  empty: {cwd: nowhere, team: plat, owner: U0BEN}
"""


def test_a_sessions_checkout_is_a_codebase_of_its_own_team_alone(tmp_path: Path) -> None:
    """Opened when it is named, searched by no other question; a folder of the team's is that codebase itself."""
    for name in ("shop", "infra", "tills", "machines"):
        make_repo(tmp_path / name, {f"{name}.py": f"NAME = '{name}'\n"})
    (tmp_path / "triage.yml").write_text(TEAMS)
    settings = load_settings(tmp_path / "triage.yml")
    opened: list[str] = []

    def opener(name: str, one: CodebaseSettings) -> OpenCodebase:
        opened.append(name)
        repo = GitRepo(Path(str(one.path)))
        return OpenCodebase(settings=one, repo=repo, index=SqlitePassageIndex(repo, tmp_path / f"index/{name}.sqlite"))

    process = ProcessCode(settings.all_codebases, opener)
    teams = {name: process.of_team(own) for name, own in settings.by_team().items()}
    assert teams["pay"].of_sessions == {"tills": "tills"}
    assert teams["plat"].of_sessions == {"watch": "infra", "shop": "shop.session", "empty": "empty"}
    assert opened == ["shop", "infra"]
    assert teams["pay"].about_session("tills") == ("tills",)
    assert teams["plat"].about_session("watch") == ("infra",)
    with pytest.raises(InputError, match="the folder of empty is no git checkout"):
        teams["plat"].about_session("empty")
    tills, machines = teams["pay"].codebases, teams["plat"].codebases
    assert tills.locate("tills:tills.py").repo.root == tmp_path / "tills"
    assert machines.locate("shop.session:machines.py").repo.root == tmp_path / "machines"
    assert machines.locate("tills:tills.py").path == "tills:tills.py"
    assert machines.locate("shop:shop.py").path == "shop:shop.py"
    assert [one.id for one in tills] == [one.id for one in tills.among(())] == ["shop"]
    assert opened.count("sessions/tills") == 1

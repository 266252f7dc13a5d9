"""Which token goes to which code host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.storage.files.file_engine import FileStore
from bot.agent.codebases import Codebase, Codebases
from bot.casework.patch_check import PatchCodebases
from bot.composition.codebases import ProcessCode, open_process_code
from bot.composition.team_core import CodeHosts, hidden_from_checks
from bot.config.environment import Environment, read_environment
from bot.config.settings import Settings, load_settings
from bot.domain.returns import EvidenceKind, EvidenceRef
from tests.fakes import FakeClock
from tests.gitrepo import git, make_repo
from tests.journeys.office import write_config

REMOTES = {
    "shop": "git@github.com:acme/shop.git",
    "infra": "https://gitlab.com/acme/infra.git",
    "inner": "https://gitlab.acme.io/acme/inner.git",
    "odd": "https://code.acme.io/acme/odd.git",
    "folder": "/srv/git/folder.git",
}
KEY = "tok-0123456789abcdef-{}"


class Opened:
    """The codebases of a process, and what opens their hosts."""

    def __init__(self, folder: Path, *names: str, variables: dict[str, str], **more: Any) -> None:
        self._folder = folder
        self._given = {name: {"path": str(make_repo(folder / name, {"a.txt": "a\n"}))} for name in names}
        for name in names:
            git(folder / name, "remote", "add", "origin", REMOTES[name])
        self.settings = settings = self._read(more)
        self.environment: Environment = read_environment({"TRIAGE_HOME": str(folder / "home"), **variables})
        store = FileStore(folder / "home")
        self.process: ProcessCode = open_process_code(
            settings, self.environment, store, FakeClock(), say=lambda *_: None
        )
        self.members = {one.id: one for one in self.process.members(settings)}
        self.hosts = CodeHosts(settings.code_host, self.environment, self.process)

    def _read(self, more: dict[str, Any]) -> Settings:
        given = {name: {**one, **more.get(name, {})} for name, one in self._given.items()}
        return load_settings(write_config(self._folder / "home", self._folder, codebases=given))

    def again(self, **more: Any) -> None:
        """Read the file again, which says more of the codebases."""
        with self.process.reopened(self._read(more)):
            pass

    def token(self, name: str) -> str | None:
        codebase: Codebase = self.members[name]
        access = self.hosts.access(codebase)
        return access.remote.token if access else None


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """Opens codebases with these variables, and closes them at the end."""
    seen: list[Opened] = []

    def make(*names: str, variables: dict[str, str], **more: Any) -> Opened:
        seen.append(Opened(tmp_path, *names, variables=variables, **more))
        return seen[-1]

    yield make
    for one in seen:
        one.process.close()


def test_each_codebase_has_the_token_of_its_host(opened: Any) -> None:
    """By the kind of host; its own token goes over that."""
    variables = {"TRIAGE_GITHUB_TOKEN": KEY.format(1), "TRIAGE_GITLAB_TOKEN_INFRA": KEY.format(2)}
    office = opened("shop", "infra", "folder", variables=variables)
    assert [office.token(name) for name in ("shop", "infra", "folder")] == [KEY.format(1), KEY.format(2), None]
    assert {KEY.format(1), KEY.format(2)} <= office.environment.secrets()


def test_a_token_for_all_goes_to_one_host_only(opened: Any) -> None:
    """gitlab.com does not get what was made for the company's own GitLab, nor the other way round."""
    office = opened("infra", "inner", variables={"TRIAGE_GITLAB_TOKEN": KEY.format(1)})
    assert (office.token("infra"), office.token("inner")) == (None, None)


def test_with_several_hosts_each_codebase_names_its_own(opened: Any) -> None:
    """The token for all is of no use then."""
    variables = {"TRIAGE_GITLAB_TOKEN": KEY.format(1), "TRIAGE_GITLAB_TOKEN_INNER": KEY.format(2)}
    office = opened("infra", "inner", variables=variables)
    assert (office.token("infra"), office.token("inner")) == (None, KEY.format(2))


def test_a_host_whose_name_does_not_say_its_kind_is_told_by_the_codebase(opened: Any) -> None:
    """`code_host` of the codebase."""
    variables = {"TRIAGE_GITEA_TOKEN": KEY.format(1)}
    assert opened("odd", variables=variables, odd={"code_host": "gitea"}).token("odd") == KEY.format(1)


def test_a_code_host_that_is_named_later_is_gone_by_at_once(opened: Any) -> None:
    """As soon as triage.yml was read again; the repository itself is the same."""
    office = opened("odd", variables={"TRIAGE_GITEA_TOKEN": KEY.format(1), "TRIAGE_GITLAB_TOKEN": KEY.format(2)})
    ref = EvidenceRef(kind=EvidenceKind.FILE, ref="a.txt:1", commit="1" * 40, quote="a")
    link_to = office.process.of_team(office.settings).link_to
    assert (office.token("odd"), link_to(ref)) == (None, None)
    for number, (host, form) in enumerate({"gitea": "/src/commit/", "gitlab": "/-/blob/"}.items(), start=1):
        office.again(odd={"code_host": host})
        assert office.token("odd") == KEY.format(number)
        assert form in str(link_to(ref))


def test_a_check_sees_no_checkout_that_only_other_teams_see(opened: Any, tmp_path: Path) -> None:
    """Nor the data directory; what holds one of the team's own stays in sight."""
    office = opened("shop", "infra", "inner", variables={})
    make_repo(tmp_path / "inner" / "part", {"a.txt": "a\n"})

    def hidden(*seen: str) -> set[str]:
        team = Codebases(one for name, one in office.members.items() if name in seen)
        seeing = PatchCodebases(team, lambda _: ())
        return {path.name for path in hidden_from_checks(office.process, seeing, office.environment.home)}

    assert hidden("shop", "infra", "inner") == {"home"}
    assert hidden("shop") == {"home", "infra", "inner"}
    office.again(shop={"path": str(tmp_path / "inner" / "part")})
    office.members = {one.id: one for one in office.process.members(office.settings)}
    assert hidden("shop") == {"home", "infra"}

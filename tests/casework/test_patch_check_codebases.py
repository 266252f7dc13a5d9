"""Which codebase of a team a patch is for, over real repositories."""

from __future__ import annotations

from collections.abc import Collection
from itertools import cycle
from pathlib import Path

import pytest

from bot.agent.codebases import Codebases
from bot.casework.patch_check import PatchCodebases
from bot.domain.patches import FixCode, FixRefused
from bot.domain.returns import EvidenceKind, EvidenceRef, ProposedPatch
from bot.domain.threads import ThreadState
from tests.builders import a_return, a_thread
from tests.casework.test_fix_opening import a_fix
from tests.casework.test_patch_check import HOSTILE, checks_of
from tests.codebases import make_codebases
from tests.gitrepo import commit_files
from tests.tables import each_row

EDIT = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
NEW = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+b\n"
CART, QUEUE, BOTH = EDIT.format("src/cart.py"), EDIT.format("deploy/queue.py"), EDIT.format("src/both.py")
HOSTILE_HERE = {
    **{kind: HOSTILE[kind] for kind in ("a path with ..", "a hook", "a symbolic link", "a workflow", "no diff")},
    "into the other codebase": EDIT.format("shop:../infra/src/both.py"),
    "into the other codebase, by its name": EDIT.format("shop:infra:src/both.py"),
    "into the other codebase, behind a file": EDIT.format("shop:src/../../infra/src/both.py"),
    "an absolute path in a codebase": NEW.format("shop:/tmp/outside.py"),
    "a hook of the other codebase": NEW.format("shop:../infra/.git/hooks/pre-push"),
    "a hook of a codebase": NEW.format("shop:.git/hooks/pre-push"),
    "a workflow of a codebase": NEW.format("infra:.github/workflows/evil.yml"),
    "a workflow of a codebase with a Cyrillic letter": NEW.format("infra:.g\u0456thub/workflows/evil.yml"),
    "from one codebase to the other": "--- a/shop:src/both.py\n+++ b/infra:src/both.py\n@@ -1 +1 @@\n-a\n+b\n",
    "a rename to the other codebase": "diff --git a/shop:src/cart.py b/infra:src/cart.py\nsimilarity index 100%\n"
    "rename from shop:src/cart.py\nrename to infra:src/cart.py\n",
    "a codebase that is not there": EDIT.format("payroll:src/both.py"),
    "a codebase in other letters": EDIT.format("SHOP:src/both.py"),
}


@pytest.fixture
def team(tmp_path: Path) -> Codebases:
    """The codebases `shop` and `infra`; both have src/both.py and README.md."""
    return make_codebases(tmp_path)


def asked(team: Codebases, *cited: str) -> ThreadState:
    """Return a thread whose draft cites these paths."""
    refs = []
    for path in cited:
        repo = team.locate(path).repo
        refs.append(EvidenceRef(kind=EvidenceKind.FILE, ref=f"{path}:1", commit=repo.head(), quote="x"))
    return a_thread(investigator_return=a_return(evidence_refs=tuple(refs)))


def place(team: Codebases, diff: str, *cited: str, about: Collection[str] = ()) -> str:
    patch = ProposedPatch(title="t", diff=diff, rationale="r")
    return PatchCodebases(team, lambda _: about).place(asked(team, *cited), patch).codebase.id


@each_row(
    "diff, cited, expected",
    [
        (CART + NEW.format("tests/test_cart.py"), ("shop:src/cart.py",), "shop"),
        (EDIT.format("infra:src/both.py"), ("shop:src/both.py",), "infra"),
        (NEW.format("shop:src/new.py"), ("infra:src/both.py",), "shop"),
        (BOTH, ("infra:src/both.py",), "infra"),
        (NEW.format("src/new.py"), ("infra:deploy/queue.py",), "infra"),
        (EDIT.format("src/nowhere.py"), ("shop:src/cart.py",), "shop"),
    ],
)
def test_a_patch_is_for_the_codebase_that_its_paths_name_or_its_draft_cites(
    team: Codebases, diff: str, cited: tuple[str, ...], expected: str
) -> None:
    """What the paths name comes first; git refuses a file that is not there."""
    assert place(team, diff, *cited) == expected


@each_row(
    "diff, cited, said",
    [
        (EDIT.format("shop:src/both.py") + EDIT.format("infra:src/both.py"), (), "files of `shop` and `infra`"),
        (CART, (), "does not say which codebase it is for: `shop` or `infra`"),
        (BOTH, ("shop:src/both.py", "infra:src/both.py"), "does not say which codebase"),
        (NEW.format("src/new.py"), (), "does not say which codebase"),
    ],
)
def test_a_patch_of_two_codebases_or_of_nobody_knows_which_is_refused(
    team: Codebases, diff: str, cited: tuple[str, ...], said: str
) -> None:
    """In a sentence that says what to do."""
    with pytest.raises(FixRefused, match=said) as error:
        place(team, diff, *cited)
    assert error.value.refusal.code is FixCode.SEVERAL_CODEBASES


def applied(team: Codebases, diff: str, about: Collection[str]) -> None:
    """Find the place of a patch whose draft cites the shop, and apply it there."""
    patch = ProposedPatch(title="t", diff=diff, rationale="r")
    codebase, commit = PatchCodebases(team, lambda _: about).place(asked(team, "shop:src/both.py"), patch)
    fix = a_fix(patch=patch, codebase=codebase.id, commit=commit)
    checks = checks_of(codebase.repo.root)
    with checks.repository() as scratch:
        checks.apply(scratch, fix.commit, fix.diff)


@each_row("kind, about", [(kind, about) for kind, about in zip(HOSTILE_HERE, cycle([(), ("shop",)]), strict=False)])
def test_a_hostile_patch_is_refused_in_a_team_of_several_codebases(
    team: Codebases, tmp_path: Path, kind: str, about: Collection[str]
) -> None:
    """For its place, or by the checks of the codebase that it is for; nothing is written in or beside either."""
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FixRefused) as error:
        applied(team, HOSTILE_HERE[kind], about)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert [path for path in sorted(tmp_path.rglob("*")) if path != tmp_path / "home"] == before


def test_the_commit_is_the_cited_one_of_that_codebase(team: Codebases) -> None:
    """Not that of another, and HEAD where it is not cited."""
    shop, infra = (one.repo for one in team)
    state, before = asked(team, "infra:deploy/queue.py", "shop:src/cart.py"), shop.head()
    commit_files(shop.root, {"later.txt": "x\n"})
    patch = ProposedPatch(title="t", diff=EDIT.format("shop:src/cart.py"), rationale="r")
    assert PatchCodebases(team, lambda _: ()).place(state, patch).commit == before
    patch = ProposedPatch(title="t", diff=EDIT.format("infra:deploy/queue.py"), rationale="r")
    assert PatchCodebases(team, lambda _: ()).place(asked(team), patch).commit == infra.head()


def test_a_patch_on_file_without_a_codebase_is_for_the_one_with_its_commit(team: Codebases) -> None:
    """It was opened when the team had one codebase, which had no id."""
    known = PatchCodebases(team, lambda _: ())
    infra = team.get("infra")
    assert infra is not None
    found = known.of(a_fix(commit=infra.repo.head()))
    assert found is infra
    assert known.of(a_fix(commit="f" * 40)) is None
    assert known.of(a_fix(commit=infra.repo.head(), codebase="gone")) is None
    assert known.of(a_fix(codebase="shop")) is team.first


def test_a_channel_of_one_codebase_reaches_no_other(team: Codebases) -> None:
    """Whatever the patch names: git then finds no such file."""
    assert place(team, QUEUE, about=("shop",)) == "shop"
    assert place(team, EDIT.format("infra:deploy/queue.py"), about=("shop",)) == "shop"

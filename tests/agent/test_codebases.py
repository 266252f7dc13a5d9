"""Several codebases of one team: where a citation leads, and one ranking over all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.agent.codebases import LIKELY, Codebase, Codebases
from bot.errors import CodebaseUnreadable, ConfigError
from tests.codebases import SHOP, make_codebases
from tests.gitrepo import commit_files, git


class TestLocate:
    """A cited path leads into one repository."""

    def test_the_codebase_before_the_path_decides(self, tmp_path: Path) -> None:
        """Both have such a file."""
        code = make_codebases(tmp_path)
        infra = code.get("infra")
        assert infra is not None
        assert code.locate("infra:src/both.py") == (infra.repo, "src/both.py")

    def test_without_one_the_commit_decides(self, tmp_path: Path) -> None:
        """So citations of the time when the team had one codebase go on working."""
        code = make_codebases(tmp_path)
        head = git(tmp_path / "infra", "rev-parse", "HEAD")
        assert code.locate("src/both.py", head).repo.root == tmp_path / "infra"
        assert code.locate("src/both.py", "0" * 40).repo.root == tmp_path / "shop"

    def test_a_commit_that_was_pushed_away_decides_as_before(self, tmp_path: Path) -> None:
        """Its repository still has it."""
        code = make_codebases(tmp_path)
        old = git(tmp_path / "infra", "rev-parse", "HEAD")
        git(tmp_path / "infra", "commit", "--quiet", "--amend", "--message", "rewritten")
        assert code.locate("src/both.py", old).repo.root == tmp_path / "infra"

    def test_an_unknown_name_is_part_of_the_path(self, tmp_path: Path) -> None:
        """So it leads nowhere, and into no other team's codebase."""
        code = make_codebases(tmp_path).among(["shop"])
        assert code.locate("infra:src/both.py").path == "infra:src/both.py"

    def test_an_only_codebase_has_no_name(self, tmp_path: Path) -> None:
        """A colon is an ordinary sign there."""
        shop = make_codebases(tmp_path, shop=SHOP).first
        code = Codebases.named([("", shop.repo, shop.index)])
        assert code.locate("shop:src/cart.py").path == "shop:src/cart.py"
        assert code.first.prefix == ""


def test_one_of_several_keeps_its_name(tmp_path: Path) -> None:
    """A channel with one codebase of a team with two cites it as the team does."""
    shop = make_codebases(tmp_path).among(["shop"])
    assert [one.prefix for one in shop] == ["shop:"]


def test_the_heads_follow_each_commit(tmp_path: Path) -> None:
    """Each codebase has its own."""
    code = make_codebases(tmp_path)
    before = code.heads()
    head = commit_files(tmp_path / "infra", {"a.py": "A = 1\n"})
    assert code.heads() == {**before, tmp_path / "infra": head}


def test_a_codebase_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    """Only where none can be read is there nothing to say."""
    code = make_codebases(tmp_path)
    (tmp_path / "infra" / ".git" / "HEAD").write_text("broken")
    assert set(code.heads()) == {tmp_path / "shop"}
    (tmp_path / "shop" / ".git" / "HEAD").write_text("broken")
    with pytest.raises(CodebaseUnreadable):
        code.heads()


class TestSearch:
    """One ranking over several indexes."""

    def test_the_passages_are_ranked_together(self, tmp_path: Path) -> None:
        """The best one first, wherever it is from."""
        code = make_codebases(tmp_path)
        for one in code:
            one.index.refresh()
        assert code.search("how many workers for the queue?")[0].codebase.id == "infra"
        assert code.search("what does add_to_cart return?")[0].codebase.id == "shop"

    def test_a_word_counts_as_rare_as_it_is_in_all_of_them(self, tmp_path: Path) -> None:
        """One that a repository hardly knows does not count most just there."""
        shop = {f"src/cart_{n}.py": f"def cart_{n}(cart):\n    return cart.price * {n}\n" for n in range(30)}
        infra = {f"deploy/host_{n}.py": f"def host_{n}(host):\n    return host.port + {n}\n" for n in range(30)}
        stray = {"deploy/names.py": "NAMES = ['cart', 'host', 'port', 'disk', 'queue', 'node', 'rack', 'pool']\n"}
        code = make_codebases(tmp_path, shop=shop, infra={**infra, **stray})
        for one in code:
            one.index.refresh()
        alone = [one.index.search("price of a cart", limit=1) for one in code]
        assert code.search("price of a cart")[0].codebase.id == "shop"
        assert code.search("cart")[0].codebase.id == "shop"
        assert alone[0], "each of them alone finds its own"

    def test_of_many_only_the_likely_ones_are_searched(self, tmp_path: Path) -> None:
        """The one that knows the words is among them; the others are asked for counts alone."""
        others = {f"r{n}": {"src/app.py": f"def serve_{n}(port):\n    return {n}\n"} for n in range(LIKELY + 2)}
        code = make_codebases(tmp_path, **others, shop=SHOP)
        for one in code:
            one.index.refresh()
        likely = code.likely("what does add_to_cart return for an item?")
        assert likely[0].codebase.id == "shop"
        assert len(likely) == len(code)
        assert code.search("what does add_to_cart return for an item?")[0].codebase.id == "shop"


def test_members_are_replaced_at_once_and_a_selection_keeps_its_own(tmp_path: Path) -> None:
    """A citation with a name is found when its codebase is the only one that is left."""
    code = make_codebases(tmp_path)
    began_with = code.among(())
    shop, _ = code
    code.replace(Codebases.named([("shop", shop.repo, shop.index)]))
    assert [one.id for one in began_with] == ["shop", "infra"]
    assert [(one.id, one.prefix) for one in code] == [("shop", "")]
    assert code.locate("shop:src/cart.py") == (shop.repo, "src/cart.py")
    assert code.locate("infra:deploy/queue.py") == (shop.repo, "infra:deploy/queue.py")


class TestBeside:
    """A codebase that only a question about it is answered from."""

    def code(self, folder: Path) -> Codebases:
        both = make_codebases(folder)
        own, beside = both.first, both.get("infra")
        assert beside is not None
        return Codebases.named(
            [("", own.repo, own.index)], beside={"watch": lambda: replace(beside, id="watch", prefix="watch:")}
        )

    def test_it_alone_answers_what_is_about_it(self, tmp_path: Path) -> None:
        """Nothing else does, nor is it among the team's; its citations lead there whatever is asked."""
        code = self.code(tmp_path)
        assert [one.prefix for one in code.about(["watch"])] == ["watch:"]
        assert [one.prefix for one in code.about([])] == [one.prefix for one in code] == [""]
        assert code.locate("watch:src/both.py").repo.root == tmp_path / "infra"
        assert list(code.about(["watch"]).heads()) == [tmp_path / "infra"]

    def test_a_commit_of_it_is_found_and_one_of_nobody_is_the_first_ones(self, tmp_path: Path) -> None:
        """A citation without a name lies where its commit does."""
        code = self.code(tmp_path)
        assert code.locate("src/both.py", git(tmp_path / "infra", "rev-parse", "HEAD")).repo.root == tmp_path / "infra"
        assert code.locate("src/both.py", "0" * 40).repo.root == tmp_path / "shop"

    def test_one_that_cannot_be_opened_is_not_there(self, tmp_path: Path) -> None:
        """Its folder is gone, say."""
        shop = make_codebases(tmp_path, shop=SHOP).first

        def gone() -> Codebase:
            raise ConfigError("codebase: there is no such folder")

        code = Codebases.named([("", shop.repo, shop.index)], beside={"watch": gone})
        assert code.get("watch") is None
        assert [one.id for one in code.about(["watch"])] == [""]

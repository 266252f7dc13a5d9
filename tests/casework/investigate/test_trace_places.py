"""Where the frames of a trace stand in a codebase that has moved on since."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import trace_places
from tests.gitrepo import commit_files, make_repo
from tests.tables import each_row

PAY = "import fees\n\n\ndef charge_order(order):\n    fees.add(order)\n    return order.total\n"
FILES = {
    "src/shop/pay.py": PAY,
    "src/shop/web.py": "from shop import pay\n\n\ndef view(order):\n    return pay.charge_order(order)\n",
    "src/shop/refund.py": "def refund_order(order):\n    return -order.total\n",
    "tests/test_pay.py": "def test_pay():\n    assert charge_order(1)\n",
    "other/pay.py": "x = 1\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> tuple[GitRepo, SqlitePassageIndex]:
    repo = GitRepo(make_repo(tmp_path / "shop", FILES))
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    index.refresh()
    return repo, index


def places(shop: tuple[GitRepo, SqlitePassageIndex], text: str) -> list[tuple[str, int | None]]:
    repo, index = shop
    return [(one.path, one.line) for one in trace_places(text, repo, index, repo.head())]


def test_our_own_code_comes_first_the_innermost_frame_first(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """Libraries are left out, tests stand last, a line that moved is found by its text."""
    trace = (
        'File "/srv/app/tests/test_pay.py", line 2, in test_pay\n    assert charge_order(1)\n'
        'File "/srv/app/shop/web.py", line 5, in view\n    return pay.charge_order(order)\n'
        'File "/srv/app/shop/pay.py", line 40, in charge_order\n    fees.add(order)\n'
        'File "/usr/lib/python3.11/site-packages/money/pay.py", line 3, in add\n    raise ValueError\n'
    )
    assert places(shop, trace) == [("src/shop/pay.py", 5), ("src/shop/web.py", 5), ("tests/test_pay.py", 2)]


def test_a_file_that_was_renamed_is_found_by_its_function(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """Where one file defines it; a function that many programs have tells nothing."""
    assert places(shop, 'File "/srv/app/shop/money_back.py", line 9, in refund_order') == [("src/shop/refund.py", 1)]
    assert places(shop, 'File "/srv/app/shop/money_back.py", line 9, in main') == []


def test_a_line_that_left_its_function_is_found_by_an_earlier_version(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """A head was put before the file since; the line is the one with the text of then, not the function's first."""
    repo, index = shop
    commit_files(repo.root, {"src/shop/pay.py": "# Copyright\n" * 9 + PAY}, "Add a head")
    index.refresh()
    assert places(shop, "at charge_order (/srv/shop/pay.py:6:1)") == [("src/shop/pay.py", 15)]


def test_the_text_of_a_line_is_found_in_a_log(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """What the log puts before each line does not belong to the code."""
    log = "2026-01-05 09:00:01 ERROR [w-1] "
    trace = 'File "/srv/app/shop/pay.py", line 40, in charge_order\n'
    assert places(shop, f"{log}  {trace}{log}    return order.total\n") == [("src/shop/pay.py", 6)]


def test_a_line_that_is_gone_leaves_the_file(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """The file is still worth a look."""
    assert places(shop, "at run (/srv/shop/pay.py:99:1)") == [("src/shop/pay.py", None)]


@each_row("folder", ["src/shop/packages/urllib3", "vendor/urllib3", "third_party/urllib3", "ext/extern/x"])
def test_code_that_is_kept_but_not_ours_is_named_only_where_nothing_else_is(
    shop: tuple[GitRepo, SqlitePassageIndex], folder: str
) -> None:
    """The innermost frame is theirs, and that is not what to look at first."""
    repo, index = shop
    commit_files(repo.root, {f"{folder}/pool.py": "def take_pool(x):\n    raise ValueError(x)\n"}, "Keep a library")
    index.refresh()
    ours = 'File "/srv/app/shop/pay.py", line 5, in charge_order\n    fees.add(order)\n'
    theirs = f'File "/srv/app/{folder}/pool.py", line 2, in take_pool\n    raise ValueError(x)\n'
    assert places(shop, ours + theirs) == [("src/shop/pay.py", 5)]
    assert places(shop, theirs) == [(f"{folder}/pool.py", 2)]


def test_a_package_of_a_workspace_is_our_own(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """`packages/` holds one's own code in many repositories."""
    repo, index = shop
    commit_files(repo.root, {"packages/till/src/till.ts": "export function openTill() {\n  throw 1\n}\n"}, "Add a till")
    index.refresh()
    trace = "at openTill (/srv/packages/till/src/till.ts:2:3)\nat view (/srv/shop/web.py:5:1)\n"
    assert places(shop, trace)[0] == ("packages/till/src/till.ts", 2)


def test_a_file_at_the_root_of_a_go_module_is_found_in_its_cache(tmp_path: Path) -> None:
    """Whatever other module has a file of that name."""
    files = {
        "go.mod": "module github.com/acme/shop\n\ngo 1.22\n",
        "pay.go": "package shop\n\nfunc Charge() {\n\tpanic(1)\n}\n",
    }
    repo = GitRepo(make_repo(tmp_path / "go", files))
    index = SqlitePassageIndex(repo, tmp_path / "go.sqlite")
    index.refresh()
    frame = "github.com/acme/{0}.Charge()\n\t/root/go/pkg/mod/github.com/acme/{0}@v1.2.0/pay.go:4 +0x1d\n"
    trace = f"goroutine 1 [running]:\n{frame}"
    assert places((repo, index), trace.format("shop")) == [("pay.go", 4)]
    assert places((repo, index), trace.format("till")) == []

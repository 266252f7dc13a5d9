"""Reports of any length: more text never hides what the first sentence finds."""

from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.investigate.trace_places import search_text
from tests.gitrepo import make_repo

FILES = {
    "shop/discount.py": """Discounts of a cart."
def apply_coupon(cart):
    "Apply the coupon: the discount of the cart, which is not forgotten."
    return 1
""",
    "shop/login.py": "# Login of a customer: password, session, cookie.\ndef login(name):\n    return name\n",
    "shop/mail.py": "# Mail to a customer: templates, sending, bounce.\ndef send(mail):\n    return mail\n",
    "tests/test_discount.py": "# tests: apply the coupon, the discount of a cart stays\ndef test_it():\n    run()\n",
}
FILES |= {f"shop/part{number}.py": f"def part_{number}(value):\n    return value\n" for number in range(20)}
NOISE = "\n".join(
    f"2026-01-05 09:00:{second:02} INFO customer login password session cookie mail template sending"
    for second in range(60)
)


@pytest.fixture
def shop(tmp_path: Path) -> tuple[GitRepo, SqlitePassageIndex]:
    repo = GitRepo(make_repo(tmp_path / "shop", FILES))
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    index.refresh()
    return repo, index


def files(shop: tuple[GitRepo, SqlitePassageIndex], text: str) -> list[str]:
    repo, index = shop
    return list(dict.fromkeys(one.path for one in search_text(text, repo, index)))


def test_a_log_does_not_hide_what_was_said(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """The discount is meant, though sixty lines speak of logins; and a word of tests does not make it one of tests."""
    said = "The cart forgets the discount of a coupon when I run the tests."
    assert files(shop, said)[:1] != []
    assert files(shop, f"{said}\n```\n{NOISE}\n```")[0] == "shop/discount.py"


def test_a_frame_leads_before_any_word(shop: tuple[GitRepo, SqlitePassageIndex]) -> None:
    """The file that failed is an address; the words speak of another one."""
    trace = (
        'Traceback (most recent call last):\n  File "/srv/shop/mail.py", line 5, in send\n    return mail\nKeyError: 1'
    )
    found = files(shop, f"Login of a customer fails, password and session are right.\n```\n{trace}\n```")
    assert found[:2] == ["shop/mail.py", "shop/login.py"]


def test_a_named_file_and_a_named_function_are_found_without_any_other_word(
    shop: tuple[GitRepo, SqlitePassageIndex],
) -> None:
    """Names point at files that no search would find by its words."""
    text = "Everything is broken since yesterday, please have a look at `apply_coupon`.\n```\n$ make\n```"
    assert files(shop, text)[0] == "shop/discount.py"
    text = "Everything is broken since yesterday, it must be shop/mail.py again.\n```\n$ make\n```"
    assert files(shop, text)[0] == "shop/mail.py"

"""Without a model: one sentence and one quote, two more places to choose from, or an honest silence."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.agent.git.git_history import GitHistory
from bot.casework.investigate.assignment import FollowUp
from bot.casework.investigate.offline_investigator import ONLY_ENGLISH
from bot.domain.search.passages import MemoryHit
from bot.errors import ConfigError, ProviderError
from tests.casework.investigate.finder import FILES, ask, make_shop, places
from tests.gitrepo import commit_files, git, make_repo
from tests.tables import each_row


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop's codebase."""
    return make_shop(tmp_path_factory.mktemp("finder") / "code")


@each_row(
    "question, sentence, quoted",
    [
        # a name
        (
            "where is `OrderService` defined?",
            "`OrderService` is defined in `shop/client.py:24`.",
            "class OrderService:",
        ),
        ("what does Client.close do", "`close` is defined in `shop/client.py:20`.", "def close(self):"),
        ("whats the order service for", "`OrderService` is defined in `shop/client.py:24`.", '"""Takes orders."""'),
        ("where is the send of the client", "`send` is defined in `shop/client.py:14`.", "def send("),
        (
            "where is `lisen` defined?",
            "Did you mean `listen`? `listen` is defined in `shop/listen.py:1`.",
            "def listen(",
        ),
        ("Wo ist OrderService definiert?", "`OrderService` is defined in `shop/client.py:24`.", "class OrderService:"),
        # a value
        ("what's the default read timeout?", "is set in `shop/client.py:11`.", "read_timeout=30"),
        ("default port?", "`DEFAULT_PORT = 8443` is set in `shop/client.py:5`.", "DEFAULT_PORT = 8443"),
        ("what is the idle timeout of the server", "`idle_timeout: 90` is set in `config/shop.yml:2`.", "idle_timeout"),
        # who uses it
        ("who calls checkout?", "No line but its definition, imports and comments holds `checkout`.", "def checkout("),
        (
            "where is `Client` used?",
            "`Client` is used in `shop/cart.py:8`, `shop/client.py:28`, `tests/test_client.py:5`.",
            "Client(",
        ),
        # an error
        (
            'getting "the connection was closed by the shop"',
            "The text of the message stands in",
            "raise ConnectionError",
        ),
        # history
        ("who last changed the docs/guide.md", "by Test on 2026-01-05.", "Mend the guide"),
        ("why was the fax support removed?", "by Test on 2026-01-05.", "for two years."),
        ("who raised the read timeout? when was it changed", "by Test on 2026-01-05.", "Raise the read timeout"),
        (
            "what changed in the last week?",
            "Newest commits of the last week that changed the codebase, the last on 2026-01-05.",
            "Mend the guide",
        ),
        # anything else
        ("are empty carts without items refused?", "Closest: `shop/cart.py:", "a cart without items is refused"),
    ],
)
def test_each_form_of_question_has_its_answer(shop: Path, question: str, sentence: str, quoted: str) -> None:
    """One or two sentences that say what it is, and one quote."""
    ret = ask(shop, question).ret
    said, _, quote = ret.draft_reply.partition("\n\n```\n")
    assert sentence in said
    assert quoted in quote
    assert quote.endswith("\n```")
    assert quote.count("\n") <= 13


@each_row(
    "question, said",
    [
        ("which zeppelin do we charter?", "I found nothing for `zeppelin`, `charter`."),
        ("who removed the telex support?", "I found no commit for `telex` `support`."),
        ("who raised the timeout of the zeppelin?", "I found no commit for `raised` `timeout` `zeppelin`."),
        ("which database does the billing service use?", "I found nothing for"),
        ("who is on call this week for the client?", "I found nothing for"),
        ("Wo wird das Passwort geprüft?", ONLY_ENGLISH),
        ("", "I found nothing for this."),
    ],
)
def test_silence_says_what_was_searched_and_what_would_help(shop: Path, question: str, said: str) -> None:
    """No draft, and no word that nothing exists."""
    ret = ask(shop, question).ret
    [open_question] = ret.open_questions
    assert (ret.draft_reply, ret.evidence_refs, ret.candidates, ret.confidence) == ("", (), (), "low")
    assert said in open_question
    assert "7 files at `" in open_question
    assert "exact text of an error would help" in open_question


def test_a_value_of_something_unknown_is_none(tmp_path: Path) -> None:
    """A large codebase that lacks a word of the question has hardly what it asks for."""
    parts = {f"shop/part{at}.py": f"def part_{at}(read):\n    timeout_{at} = read\n" for at in range(60)}
    code = make_repo(tmp_path / "code", {**FILES, **parts})
    assert "read_timeout=30" in ask(code, "what's the default read timeout?").ret.draft_reply
    assert not ask(code, "what's the default read timeout of the zeppelin gateway?").ret.draft_reply


def test_a_trace_leads_to_its_innermost_frame(shop: Path) -> None:
    """Of this codebase; frames further out are candidates."""
    trace = (
        'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 8, in checkout\n'
        '    return Client(cart.host).send(cart)\n  File "/srv/shop/client.py", line 17, in send\n'
        '    raise ConnectionError("the connection was closed by the shop")\nConnectionError: closed\n'
    )
    ret = ask(shop, f"any idea?\n```\n{trace}```").ret
    assert ret.draft_reply.startswith("The stack trace leads to `shop/client.py:17`.")
    assert places(ret)[:2] == ["shop/client.py", "shop/cart.py"]
    assert ret.confidence == "medium"


def test_code_comes_before_tests_and_two_further_places_are_offered(shop: Path) -> None:
    """What is used is quoted where the product uses it; at most two further places."""
    ret = ask(shop, "where is `send` called?").ret
    assert places(ret)[0] in ("shop/cart.py", "shop/client.py")
    assert len(ret.candidates) == 2


def test_several_definitions_of_a_name_are_all_named(tmp_path: Path) -> None:
    """With the place of each."""
    body = "def total(cart):\n    return {}\n"
    code = make_repo(tmp_path / "code", {"shop/a.py": body.format(1), "shop/b.py": body.format(2)})
    ret = ask(code, "where is `total` defined?").ret
    assert "`total` is defined in `shop/a.py:1`, `shop/b.py:1`." in ret.draft_reply
    assert places(ask(code, "what is `total` in b.py?").ret)[0] == "shop/b.py"
    offered = ask(code, "where is `totall` defined?").ret.draft_reply
    assert offered.startswith("Did you mean `total`? `total` is defined in `shop/a.py:1`, `shop/b.py:1`.")


@each_row(
    "question, confidence",
    [("where is `OrderService` defined?", "medium"), ("are empty carts without items refused?", "low")],
)
def test_confidence_is_medium_only_for_what_was_found_by_name(shop: Path, question: str, confidence: str) -> None:
    """Likeness alone is low; nobody reasoned, so nothing is high."""
    assert ask(shop, question).ret.confidence == confidence


@each_row(
    "follow_ups, first, not_answered",
    [
        ((FollowUp("and where is `checkout` defined?"),), "shop/cart.py", ("where is `listen` defined?",)),
        (
            (FollowUp("which zeppelin do we charter?"),),
            "shop/listen.py",
            ("which zeppelin do we charter?",),
        ),
        ((FollowUp("we run it in the EU", by_asker=False),), "shop/listen.py", ("we run it in the EU",)),
    ],
)
def test_the_newest_question_of_the_thread_is_answered(
    shop: Path, follow_ups: tuple[FollowUp, ...], first: str, not_answered: tuple[str, ...]
) -> None:
    """Of what else was written there the return says that nothing answers it."""
    ret = ask(shop, "where is `listen` defined?", follow_ups=follow_ups).ret
    assert places(ret)[0] == first
    assert ret.not_answered == not_answered


def test_a_follow_up_is_about_what_was_asked_before(shop: Path) -> None:
    """`it` is what the thread is about."""
    ret = ask(shop, "and where is it defined?", earlier=("we talk about `OrderService`",)).ret
    assert ret.draft_reply.startswith("`OrderService` is defined")


def test_what_a_human_added_is_searched_too(shop: Path) -> None:
    """Context counts as part of the question."""
    assert places(ask(shop, "hm?", added=("it is about `checkout`, where is that?",)).ret)[0] == "shop/cart.py"


def test_what_the_feedback_names_is_left_out_of_the_next_round(shop: Path) -> None:
    """A citation that was criticised does not come back."""
    first = ask(shop, "are empty carts without items refused?").ret.evidence_refs[0].ref
    again = ask(shop, "are empty carts without items refused?", feedback=f"{first} is beside the point").ret
    assert first not in [ref.ref for ref in (*again.evidence_refs, *again.candidates)]


def test_earlier_answers_are_named_where_they_hold_and_shown_where_they_changed(shop: Path) -> None:
    """A settled note leads; one whose lines changed is for whoever approves; a reply cannot be cited."""
    notes = (
        MemoryHit(ref="reply/T1.C1.1.2", title="A reply", excerpt="Five.", score=0.99),
        MemoryHit(ref="memory/orders.md", title="Orders", excerpt="Five.", score=0.9),
        MemoryHit(ref="memory/old.md", title="Old", excerpt="4.", score=0.9, caution="changed", is_settled=False),
    )
    ret = ask(shop, "where is `OrderService` defined?", notes=notes).ret
    assert ret.draft_reply.startswith("An earlier answer is close to this: Orders (`memory/orders.md`).")
    assert "old.md" not in ret.draft_reply
    assert [ref.supports_claim for ref in ret.evidence_refs[1:]] == ["Five.", "changed; 4."]


def test_nothing_that_may_not_be_quoted_is_quoted(tmp_path: Path) -> None:
    """No credential, no fence, no half of an endless line, no file that is secret by its name."""
    token = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
    files = {
        "src/token.py": f'def zeppelin_token():\n    return "{token}"\n',
        "docs/zeppelin.md": "# Zeppelin fence\n\n```python\nzeppelin_fence()\n```\n",
        "dist/app.js": "zeppelin(balloon);" * 1_000,
        ".env": "ZEPPELIN_KEY=hydrogen\n",
    }
    code = make_repo(tmp_path / "code", files)
    for question in ("where is the zeppelin token?", "zeppelin fence?", "zeppelin balloon?", "what is ZEPPELIN_KEY?"):
        ret = ask(code, question).ret
        shown = " ".join((ret.draft_reply, *(ref.quote for ref in (*ret.evidence_refs, *ret.candidates))))
        assert token not in shown
        assert "hydrogen" not in shown
        assert ret.draft_reply.count("```") in (0, 2)
        assert all(len(line) <= 400 for line in shown.split("\n"))


def test_commits_whose_message_may_not_be_shown_are_left_out(tmp_path: Path) -> None:
    """Code fences and credentials stay in git."""
    code = make_shop(tmp_path / "code")
    token = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
    for number, message in enumerate(("Ping @channel", "Fence ``` it", f"Use {token}")):
        commit_files(code, {"docs/guide.md": f"# Guide {number}\n"}, message)
    assert places(ask(code, "who last changed docs/guide.md?").ret)[0] == "Ping @channel"


def test_a_shallow_checkout_says_so(shop: Path, tmp_path: Path) -> None:
    """Its oldest commit is not who wrote the code."""
    subprocess.run(["git", "clone", "--quiet", "--depth=2", shop.as_uri(), tmp_path / "shallow"], check=True)
    assert "This checkout is shallow" in ask(tmp_path / "shallow", "who last changed `send`?").ret.draft_reply


def test_a_history_that_git_cannot_read_ends_nothing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next way to search has its turn."""

    def fails(*_: Any, **__: Any) -> None:
        raise ProviderError("git log failed")

    for name in ("commits", "line_commits"):
        monkeypatch.setattr(GitHistory, name, fails)
    assert ask(shop, "who last changed `send`?").ret.open_questions
    assert places(ask(shop, "where is `listen` defined?").ret)[0] == "shop/listen.py"


@each_row(
    "question",
    ["😀🎉", "busy " * 4_000, '"server (NEAR', "\ud83d busy", "`" * 500, "who " * 3_000, f"ValueError: {'a' * 40_000}"],
)
def test_any_text_can_be_asked(shop: Path, question: str) -> None:
    """Emoji, signs and very long messages get a return like any other, one that can be written to disk."""
    assert ask(shop, question).ret.model_dump_json()


def test_a_repository_without_commits_is_refused(tmp_path: Path) -> None:
    """There is nothing to quote before the first commit."""
    with pytest.raises(ConfigError, match="no commit yet"):
        ask(make_repo(tmp_path / "code"), "why?")


def test_nothing_was_spent(shop: Path) -> None:
    """No model, no tokens, and the record says who answered."""
    found = ask(shop, "where is `listen` defined?")
    assert (found.usage.input_tokens, found.usage.cost_usd, found.investigator) == (0, 0, "offline")


def test_a_name_on_very_many_lines_is_not_listed(tmp_path: Path) -> None:
    """It is an ordinary word."""
    code = make_repo(tmp_path / "code", {**FILES, "shop/many.py": "value = Client(value)\n" * 500})
    git(code, "status")
    assert "is used in" not in ask(code, "who uses `Client`?").ret.draft_reply

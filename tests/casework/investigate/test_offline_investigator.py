"""The offline investigator: what it drafts, proves and refuses without a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.adapters.search.passage_index import SqlitePassageIndex
from bot.agent.git.git_repo import GitRepo
from bot.casework.checks.draft_checks import check_return
from bot.casework.investigate.assignment import Assignment, FollowUp, Investigation, ThreadMessage
from bot.casework.investigate.offline_draft import ONLY_ENGLISH
from bot.casework.investigate.offline_investigator import OfflineInvestigator
from bot.domain.returns import EvidenceKind, ref_marks
from bot.domain.search.definitions import Definition
from bot.domain.search.passages import CommitHit, IndexReport, MemoryHit, Passage
from bot.domain.search.ranking import WordCounts
from bot.domain.search.settings import Setting
from bot.domain.threads import QuestionType
from bot.errors import ConfigError
from bot.ports import Progress
from tests.builders import asked
from tests.gitrepo import make_repo
from tests.samples import RETRY
from tests.tables import each_row

GUIDE = "# Retries\n\nWhen the server is busy, a request is sent again:\n\n```python\nsend_with_retry(request)\n```\n"
QUESTION = "how many times do we send a request when the server is busy?"


class Shelf:
    """A PassageIndex that always finds the whole of the given files, in their order."""

    def __init__(self, repo: GitRepo, *paths: str) -> None:
        self._repo = repo
        self._paths = paths

    def refresh(self, on_progress: Progress | None = None) -> IndexReport:
        return IndexReport(commit=self._repo.head(), files=len(self._paths), read=0, skipped=0, seconds=0.0)

    def definitions(self, name: str) -> list[Definition]:
        return []

    def places_called(self, name: str) -> list[str]:
        return []

    def similar(self, text: str, *, limit: int) -> list[Passage]:
        return self.search(text, limit=limit)

    def word_counts(self, question: str, *, subject: str = "") -> WordCounts:
        return WordCounts(0, {})

    def lines(self, path: str) -> list[str]:
        return self._repo.lines_at(self._repo.head(), path) or []

    def settings(self, words: str, *, limit: int = 20) -> list[Setting]:
        return []

    def commits(self, words: str, *, limit: int = 10) -> list[CommitHit]:
        return []

    def near_names(self, name: str, *, limit: int = 3) -> list[str]:
        return []

    def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
        commit = self._repo.head()
        found = [(path, self._repo.lines_at(commit, path) or []) for path in self._paths]
        return [
            Passage(path=path, start=1, end=len(lines), text="\n".join(lines), commit=commit, score=10.0 - place)
            for place, (path, lines) in enumerate(found[:limit])
        ]


def investigate(
    code: Path,
    *paths: str,
    question: str = QUESTION,
    human_context: Sequence[str] = (),
    memory_hits: Sequence[MemoryHit] = (),
    feedback: str | None = None,
    round_: int = 1,
) -> Investigation:
    """Ask about a repository in which the search finds `paths`."""
    repo = GitRepo(code)
    assignment = Assignment(
        question=question,
        question_type=QuestionType.TECHNICAL_QA,
        rubric="",
        round=round_,
        human_context=tuple(ThreadMessage("U2", text) for text in human_context),
        memory_hits=tuple(memory_hits),
        feedback=feedback,
    )
    return OfflineInvestigator(repo, Shelf(repo, *paths)).investigate(assignment, run_id="r1")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A module and a guide that both speak of retries."""
    return make_repo(tmp_path / "code", {"src/transport.py": RETRY, "docs/retries.md": GUIDE})


def test_the_draft_names_and_quotes_each_passage(code: Path) -> None:
    """Every citation stands in the draft with its place and its lines."""
    ret = investigate(code, "src/transport.py", "docs/retries.md").ret
    assert len(ret.evidence_refs) == 2
    for ref in ret.evidence_refs:
        assert f"`{ref.ref}`\n```\n{ref.quote}\n```" in ret.draft_reply


def test_a_quote_is_exactly_the_lines_it_cites(code: Path) -> None:
    """Path, lines and commit lead to the very text quoted."""
    for ref in investigate(code, "src/transport.py", "docs/retries.md").ret.evidence_refs:
        path, _, lines = ref.ref.rpartition(":")
        start, end = map(int, lines.split("-"))
        assert ref.commit == GitRepo(code).head()
        assert ref.quote.split("\n") == (GitRepo(code).lines_at(ref.commit, path) or [])[start - 1 : end]


def test_every_quoted_line_stands_in_the_ledger(code: Path) -> None:
    """The run proves that it read what it cites, at the commit it cites."""
    investigation = investigate(code, "src/transport.py", "docs/retries.md")
    for ref in investigation.ret.evidence_refs:
        path, _, lines = ref.ref.rpartition(":")
        start, end = map(int, lines.split("-"))
        assert investigation.ledger.covers(path, start, end, commit=ref.commit)


def test_the_lines_quoted_are_those_that_answer(tmp_path: Path) -> None:
    """Of a long passage the telling lines are shown, at most twelve."""
    filler = "\n".join(f"value_{number} = {number}" for number in range(30))
    code = make_repo(tmp_path / "code", {"src/long.py": f"{filler}\n{RETRY}{filler}\n"})
    quote = investigate(code, "src/long.py").ret.evidence_refs[0].quote
    assert "while the server is busy" in quote
    assert len(quote.split("\n")) <= 12


def test_an_excerpt_leaves_out_nothing_that_belongs_to_its_lines(tmp_path: Path) -> None:
    """A text that YAML folds is quoted whole, though two of its lines would answer; and so it is proved."""
    folded = (
        "limits: >\n" + "".join(f"  the server is busy {number} times,\n" for number in range(14)) + "  and no more\n"
    )
    repo = make_repo(tmp_path / "repo", {"limits.yml": folded})
    found = investigate(repo, "limits.yml")
    assert [ref.quote.strip().endswith("and no more") for ref in found.ret.evidence_refs] == [True]
    checks = check_return(found.ret, repo=repo, ledger=found.ledger)
    assert ref_marks(checks, 1) == [True]


def test_the_return_keeps_its_limits_however_much_is_found(tmp_path: Path) -> None:
    """At most 300 words, five excerpts and eight refs, never `high`, one sentence of reason."""
    wordy = "\n".join(f"# the server is busy so we send the request again and again, remark {n}" for n in range(60))
    code = make_repo(tmp_path / "code", {f"src/m{number}.py": wordy for number in range(8)})
    ret = investigate(code, *(f"src/m{number}.py" for number in range(8))).ret
    assert len(ret.draft_reply.split()) <= 300
    assert 2 <= len(ret.evidence_refs) <= 5
    assert ret.confidence in ("medium", "low")
    assert ret.confidence_reason.count(". ") == 0


@each_row("chars", [400, 10_000])
def test_a_draft_of_long_lines_still_fits_into_slacks_editor(tmp_path: Path, chars: int) -> None:
    """Whatever the lines are like, the reply can be edited and posted; too long a line is passed over, never cut."""
    long = "# the server is busy so we send the request again " + "x" * chars
    files = {f"src/m{number}.py": f"{long}\n" * 20 + RETRY for number in range(4)}
    code = make_repo(tmp_path / "code", files)
    note = MemoryHit(ref=f"memory/{'n' * 200}.md", title="t" * 120, excerpt="Five times.", score=0.9)
    ret = investigate(code, *files, memory_hits=[note]).ret
    assert len(ret.draft_reply) <= 2_800
    quoted = [ref for ref in ret.evidence_refs if ref.kind is EvidenceKind.FILE]
    assert quoted
    for ref in quoted:
        assert ref.quote in "\n".join(files[ref.ref.partition(":")[0]].split("\n"))


def test_a_file_of_one_endless_line_is_not_quoted(tmp_path: Path) -> None:
    """Half a line is no verbatim line."""
    code = make_repo(tmp_path / "code", {"dist/app.js": "send(request, again, busy, server);" * 100})
    assert investigate(code, "dist/app.js").ret.draft_reply == ""


def test_a_passage_that_covers_little_of_the_question_means_low(code: Path) -> None:
    """Confidence follows how much of the question is found."""
    assert investigate(code, "src/transport.py").ret.confidence == "medium"
    others = "websocket, grpc, mqtt, soap, stomp, coap, gopher, telnet, finger, rsync, whois"
    vague = f"does the busy server speak {others} or carrier pigeon?"
    assert investigate(code, "src/transport.py", question=vague).ret.confidence == "low"


def test_nothing_relevant_means_a_question_back_and_no_draft(code: Path) -> None:
    """A draft is never made up."""
    investigation = investigate(code)
    assert investigation.ret.draft_reply == ""
    assert investigation.ret.open_questions
    assert investigation.ret.confidence == "low"
    assert investigation.ret.evidence_refs == ()
    assert investigation.ledger.reads == []


def test_a_fence_inside_the_code_never_ends_the_quote(code: Path) -> None:
    """Lines with a fence of their own are left out of the excerpt."""
    draft = investigate(code, "docs/retries.md").ret.draft_reply
    assert draft.count("```") == 2


def test_credentials_are_not_quoted_and_broadcasts_are(tmp_path: Path) -> None:
    """No token gets into a draft, nor a file that is secret by name; evidence is not left out for a broadcast in it."""
    token = "xoxb-" + "1234567890-ABCDEFGHIJKLMNOP"
    files = {
        "src/token.py": f'SERVER_TOKEN = "{token}"  # the server is busy, send the request again\n',
        "src/alert.py": 'notify("@channel the server is busy, send the request again")\n',
        ".env": "SERVER_BUSY=send the request again\n",
    }
    ret = investigate(make_repo(tmp_path / "code", files), *files).ret
    assert [ref.ref for ref in ret.evidence_refs] == ["src/alert.py:1"]
    assert token not in ret.draft_reply


def test_a_strong_earlier_answer_is_named_and_cited(code: Path) -> None:
    """A note near to the question leads the draft; weak ones and replies do not."""
    hits = [
        MemoryHit(ref="reply/T1.C1.1.2", title="A reply", excerpt="Five.", score=0.99),
        MemoryHit(ref="memory/retries.md", title="Retries", excerpt="Five times.", score=0.9),
        MemoryHit(ref="memory/other.md", title="Other", excerpt="Unrelated.", score=0.4),
    ]
    investigation = investigate(code, "src/transport.py", memory_hits=hits)
    memory = [ref for ref in investigation.ret.evidence_refs if ref.kind is EvidenceKind.MEMORY]
    assert [ref.ref for ref in memory] == ["memory/retries.md"]
    assert "memory/retries.md" in investigation.ret.draft_reply
    assert investigation.ledger.came_up("memory/retries.md")


def test_notes_whose_lines_changed_are_for_whoever_approves_and_never_an_answer(code: Path) -> None:
    """They stand among the evidence with what is to be known of them; the reply names none."""
    hits = [
        MemoryHit(
            ref="memory/old.md",
            title="Old",
            excerpt="4.",
            score=0.9,
            caution="changed",
            is_settled=False,
        ),
    ]
    investigation = investigate(code, "src/transport.py", memory_hits=hits)
    ret = investigation.ret
    shown = [(ref.ref, ref.supports_claim) for ref in ret.evidence_refs if ref.kind is EvidenceKind.MEMORY]
    assert shown == [("memory/old.md", "changed; 4.")]
    assert "memory/" not in ret.draft_reply
    assert investigation.ledger.came_up("memory/old.md")
    assert investigate(code, memory_hits=hits).ret.draft_reply == ""


def test_what_a_human_added_is_searched_too(tmp_path: Path) -> None:
    """Context counts as part of the question."""
    investigation = investigate(
        make_repo(tmp_path / "code", {"a.py": "A = 1\n"}), question="why?", human_context=["the zeppelin service"]
    )
    assert "why?\nthe zeppelin service" in asked(investigation.ledger)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> OfflineInvestigator:
    """Whoever searches the codebase that threads are about."""
    files = {"src/transport.py": RETRY, "src/body.py": LIMIT, **OTHERS}
    return offline(tmp_path_factory.mktemp("threads"), files)


FOLLOW_UP = "and where is `body_of` defined?"
NOWHERE = "which zeppelin do we charter?"
REMARK = "we run it in the EU region"


@each_row(
    "follow_ups, quoted, not_answered",
    [
        ((FollowUp(FOLLOW_UP),), ["src/body.py", "src/transport.py"], ()),
        ((FollowUp(NOWHERE), FollowUp(FOLLOW_UP)), ["src/body.py", "src/transport.py"], (NOWHERE,)),
        ((FollowUp(NOWHERE),), ["src/transport.py"], (NOWHERE,)),
        ((FollowUp(REMARK, by_asker=False),), ["src/transport.py"], (REMARK,)),
        ((FollowUp(FOLLOW_UP, by_asker=False),), ["src/transport.py"], (FOLLOW_UP,)),
        ((FollowUp(f"<@U0BOT> {FOLLOW_UP}", by_asker=False),), ["src/body.py", "src/transport.py"], ()),
        ((FollowUp(f"<@U0BOT> {NOWHERE}", opened=True),), ["src/transport.py"], ()),
    ],
)
def test_the_newest_question_of_the_thread_is_answered_first(
    threads: OfflineInvestigator, follow_ups: tuple[FollowUp, ...], quoted: list[str], not_answered: tuple[str, ...]
) -> None:
    """Then the thread's own; of what else was written there the return says that nothing answers it."""
    assignment = Assignment(
        question="where is `send_with_retry` defined?",
        question_type=QuestionType.OTHER,
        rubric="",
        round=1,
        follow_ups=follow_ups,
    )
    ret = threads.investigate(assignment, run_id="r1").ret
    assert list(dict.fromkeys(ref.ref.rpartition(":")[0] for ref in ret.evidence_refs)) == quoted
    assert ret.not_answered == not_answered
    assert all(f"`{ref.ref}`\n```\n{ref.quote}\n```" in ret.draft_reply for ref in ret.evidence_refs[:2])


def test_what_the_feedback_names_is_left_out_of_the_next_round(code: Path) -> None:
    """A citation that was criticised does not come back; the round is on the return."""
    first = investigate(code, "src/transport.py", "docs/retries.md").ret
    again = investigate(
        code,
        "src/transport.py",
        "docs/retries.md",
        feedback=f"{first.evidence_refs[0].ref} is beside the point",
        round_=2,
    ).ret
    assert first.evidence_refs[0].ref not in [ref.ref for ref in again.evidence_refs]
    assert again.investigator_round == 2


def test_an_index_that_disagrees_with_git_is_not_quoted(code: Path) -> None:
    """Only lines that stand at the commit are evidence."""

    class Liar(Shelf):
        def search(self, question: str, *, limit: int = 8, subject: str = "") -> list[Passage]:
            return [
                Passage(path=one.path, start=1, end=1, text="invented", commit=one.commit, score=1.0)
                for one in super().search(question, limit=limit)
            ]

    repo = GitRepo(code)
    assignment = Assignment(question=QUESTION, question_type=QuestionType.OTHER, rubric="", round=1)
    ret = OfflineInvestigator(repo, Liar(repo, "src/transport.py")).investigate(assignment, run_id="r1").ret
    assert ret.evidence_refs == ()


@each_row("question", ["", "😀🎉", "busy " * 4_000, '"server (NEAR', "\ud83d busy"])
def test_any_text_can_be_asked(code: Path, question: str) -> None:
    """Nothing, emoji and very long messages get a return like any other, one that can be written to disk."""
    assert investigate(code, "src/transport.py", question=question).ret.model_dump_json()


def test_a_repository_without_commits_is_refused(tmp_path: Path) -> None:
    """There is nothing to quote before the first commit."""
    with pytest.raises(ConfigError, match="no commit yet"):
        investigate(make_repo(tmp_path / "code"))


def test_nothing_was_spent(code: Path) -> None:
    """No model, no tokens, and the record says who answered."""
    investigation = investigate(code, "src/transport.py")
    assert (investigation.usage.input_tokens, investigation.usage.cost_usd, investigation.investigator) == (
        0,
        0,
        "offline",
    )


def test_the_frames_of_a_stack_trace_are_quoted_first(tmp_path: Path) -> None:
    """The innermost frame of our code leads; each quote is proved, and the draft says what it is."""
    files = {"shop/pay.py": "def charge_order(order):\n    return order.fee\n", "shop/web.py": f"{RETRY}\nview = 1\n"}
    repo = GitRepo(make_repo(tmp_path / "code", files))
    index = SqlitePassageIndex(repo, tmp_path / "index.sqlite")
    trace = (
        'Traceback (most recent call last):\n  File "/srv/shop/web.py", line 2, in view\n    charge_order(order)\n'
        '  File "/srv/shop/pay.py", line 7, in charge_order\n    return order.fee\nAttributeError: fee\n'
    )
    asked = Assignment(question=f"What is this?\n```{trace}```", question_type=QuestionType.OTHER, rubric="", round=1)
    found = OfflineInvestigator(repo, index).investigate(asked, run_id="r1")
    first, second = found.ret.evidence_refs[:2]
    assert (first.ref, first.supports_claim) == (
        "shop/pay.py:1-2",
        "Innermost frame of the stack trace in this codebase: `shop/pay.py:2`.",
    )
    assert second.ref.startswith("shop/web.py:")
    assert "The stack trace leads here first:\n\n`shop/pay.py:1-2`" in found.ret.draft_reply
    checks = check_return(found.ret, repo=repo.root, ledger=found.ledger)
    assert ref_marks(checks, len(found.ret.evidence_refs)) == [True] * len(found.ret.evidence_refs)


def test_a_draft_that_holds_enough_of_the_question_is_of_medium_confidence(code: Path) -> None:
    """Never of high: nobody reasoned about it."""
    assert investigate(code, "src/transport.py").ret.confidence == "medium"
    assert investigate(code).ret.confidence == "low"


def test_one_shared_word_of_many_is_no_answer(code: Path) -> None:
    """It is there by chance."""
    asked = "what did the customer from Madrid say about the invoice for a server?"
    assert investigate(code, "src/transport.py", question=asked).ret.draft_reply == ""


PAY = (
    "MAX_ATTEMPTS = 5\n\n\ndef post_payment(session, body):\n    for number in range(MAX_ATTEMPTS):\n"
    "        if (reply := session.post(body)).ok:\n            return reply\n    raise TimeoutError\n"
)
OTHERS = {f"shop/m{n}.py": f"def helper_{n}(value):\n    return value + {n}\n" for n in range(30)}


def offline(folder: Path, files: Mapping[str, str]) -> OfflineInvestigator:
    """Return whoever searches a codebase of these files."""
    repo = GitRepo(make_repo(folder / "code", files))
    return OfflineInvestigator(repo, SqlitePassageIndex(repo, folder / "index.sqlite"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> OfflineInvestigator:
    """Whoever searches the shop."""
    auth = "def verify_password(user, password):\n    return user.hash == hash_of(password)\n"
    return offline(tmp_path_factory.mktemp("shop"), {"shop/pay.py": PAY, "shop/auth.py": auth, **OTHERS})


@each_row(
    "question, says_so",
    [
        ("Wo wird das Passwort geprüft?", True),
        ("パスワードはどこで確認されますか", True),
        ("Where is the canteen?", False),
    ],
)
def test_nothing_found_for_another_language_says_which_one_is_known(
    shop: OfflineInvestigator, question: str, says_so: bool
) -> None:
    """So that nobody takes it for a word about the code."""
    assignment = Assignment(question=question, question_type=QuestionType.TECHNICAL_QA, rubric="", round=1)
    ret = shop.investigate(assignment, run_id="r1").ret
    assert ret.draft_reply == ""
    [said] = ret.open_questions
    assert (ONLY_ENGLISH in said) is says_so


RULES = "def keep_cart(cart):\n    # when a visitor leaves, by policy, the cart is kept\n    return keep(cart)\n"
FAR = "def enter(courier):\n    badge(1)\n" + "    step()\n" * 7 + "    scan(2)\n" + "    step()\n" * 7 + "    done()\n"
MANY = {f"shop/part_{n}.py": f"def helper_{n}(value):\n    return value + {n}\n" for n in range(110)}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> OfflineInvestigator:
    """Whoever searches a codebase of many files."""
    return offline(tmp_path_factory.mktemp("many"), {"shop/rules.py": RULES, "shop/gate.py": FAR, **MANY})


@each_row(
    "question, is_answered",
    [
        ("What is the leave policy?", True),
        ("What is the maternity leave policy?", False),
        ("What is the neo4j leave policy?", False),
        ("What is leave policy 4711?", True),
        ("Which policy holds when a visitor leaves the cafeteria?", True),
        ("What is our leave policy next month?", False),
        ("Und die maternity leave policy?", True),
        ("Which badge does the courier scan in the cafeteria?", False),
    ],
)
def test_what_the_code_knows_nothing_of_has_no_draft(
    many: OfflineInvestigator, question: str, is_answered: bool
) -> None:
    """Two shared words are chance where an English question names a thing that no file has, or asks for a date."""
    assignment = Assignment(question=question, question_type=QuestionType.TECHNICAL_QA, rubric="", round=1)
    assert bool(many.investigate(assignment, run_id="r1").ret.draft_reply) is is_answered


HOOK = (
    "def pre_load(\n    fn=None,\n    pass_many=False,\n    pass_original=False,\n):\n"
    '    """Register a method that runs before loading.\n\n'
    + "".join(f"    Line {number} of many.\n" for number in range(9))
    + '    """\n    return set_hook(fn, PRE_LOAD, many=pass_many)\n'
)
LINKS = "# links are checked here\ndef links_of(page):\n    return [link for link in page if is_checked(link)]\n"
LIMIT = "def body_of(request):\n    # the limit of a body, 1 MiB by default\n    return check(request.read(), LIMIT)\n"


@each_row(
    "asked, earlier, first",
    [
        ("how do I write a pre_load hook?", "", "def pre_load("),
        ("and where is it checked?", "what is the default body limit?", "def body_of("),
    ],
)
def test_the_first_quote_is_about_what_is_named(tmp_path: Path, asked: str, earlier: str, first: str) -> None:
    """From its definition on, however long its head is; a follow-up is about what was asked before."""
    files = {"src/hooks.py": HOOK, "src/links.py": LINKS, "src/body.py": LIMIT}
    repo = GitRepo(make_repo(tmp_path / "code", {**files, **OTHERS}))
    investigator = OfflineInvestigator(repo, SqlitePassageIndex(repo, tmp_path / "index.sqlite"))
    before = (earlier,) if earlier else ()
    assignment = Assignment(question=asked, question_type=QuestionType.OTHER, rubric="", round=1, earlier=before)
    assert first in investigator.investigate(assignment, run_id="r1").ret.evidence_refs[0].quote

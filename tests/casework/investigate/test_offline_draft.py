"""Which excerpts of the code a draft made without a model quotes, and how sure it is of them."""

from dataclasses import replace

from bot.casework.investigate.offline_draft import Excerpt, QuotableFile, excerpts_of_passage, is_close
from bot.domain.search.passages import Passage
from bot.domain.search.tokens import question_stems
from tests.tables import each_row

PLAIN = Excerpt(path="shop/pay.py", start=1, end=2, commit="c" * 40, text="retries = 5", covered=3, near=3)
DEFINING = replace(PLAIN, defines="retries")
FRAME = replace(PLAIN, frame="pay.py:2")
CHANCE = replace(PLAIN, covered=1)


@each_row(
    "excerpts, is_report, close",
    [
        ([CHANCE, replace(FRAME, covered=1)], False, True),
        ([replace(DEFINING, covered=1), CHANCE], False, True),
        ([CHANCE], True, True),
        ([PLAIN, CHANCE], False, True),
        ([CHANCE, PLAIN], False, True),
        ([CHANCE, replace(DEFINING, covered=1)], False, False),
        ([CHANCE], False, False),
        ([replace(PLAIN, covered=2)], False, False),
    ],
)
def test_few_words_of_a_question_are_not_close(excerpts: list[Excerpt], is_report: bool, close: bool) -> None:
    """A frame, a definition that is quoted first and a report are; two words of twelve are not."""
    assert is_close(excerpts, is_report=is_report, asked=12) is close


def test_one_line_is_cited_as_one_line() -> None:
    """As a person writes it."""
    assert [PLAIN.ref, replace(PLAIN, end=1).ref] == ["shop/pay.py:1-2", "shop/pay.py:1"]


@each_row(
    "notice, end",
    [
        ("# Copyright 2024 A. Nobody\n# You may use this software under the License.\n\n", 2),
        ("/*\nCopyright 2024.\n\nLicensed to use the software.\n*/\n\n", 5),
        ("// SPDX-License-Identifier: MIT\n\n// How to use the software.\n", 1),
        ("# How to use the software.\n", 0),
    ],
)
def test_the_licence_a_file_begins_with_is_no_answer(notice: str, end: int) -> None:
    """It holds words that many questions hold; a comment behind it may be quoted."""
    text = f"{notice}def software():\n    return use()"
    file = QuotableFile(path="a.py", commit="c" * 40, lines=text.split("\n"))
    passage = Passage(path="a.py", start=1, end=len(file.lines), commit=file.commit, text=text, score=1.0)
    found = list(excerpts_of_passage(passage, file, question_stems("Which software may I use?"), ()))
    assert file.notice_end == end
    assert min(one.start for one in found) > end

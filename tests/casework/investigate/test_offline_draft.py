"""Bands of drafts: what each rests on, and what the counts promise."""

from dataclasses import replace

from bot.casework.investigate.offline_draft import COUNTS, Band, Excerpt, QuotableFile, band_of, excerpts_of_passage
from bot.domain.questions.approval_basis import ENOUGH
from bot.domain.search.passages import Passage
from bot.domain.search.tokens import question_stems
from tests.tables import each_row

PLAIN = Excerpt(path="shop/pay.py", start=1, end=2, commit="c" * 40, text="retries = 5", covered=3, near=3)
DEFINING = replace(PLAIN, defines="retries")
FRAME = replace(PLAIN, frame="pay.py:2")


@each_row(
    "excerpts, is_report, band",
    [
        ([DEFINING, FRAME], False, Band.FRAME),
        ([DEFINING, PLAIN], True, Band.DEFINITION),
        ([PLAIN, DEFINING], True, Band.REPORT),
        ([PLAIN, DEFINING], False, Band.QUESTION),
        ([PLAIN, replace(PLAIN, covered=1)], False, Band.QUESTION),
        ([replace(PLAIN, covered=1)], False, None),
        ([replace(PLAIN, covered=2)], False, None),
    ],
)
def test_a_draft_belongs_to_the_strongest_sign(excerpts: list[Excerpt], is_report: bool, band: Band | None) -> None:
    """A frame before a definition that is quoted first, both before what was asked; two words of twelve are none."""
    assert band_of(excerpts, is_report=is_report, asked=12) is band


def test_every_band_has_been_counted() -> None:
    """All but frames, which are rare, so often that the count says something of the next draft."""
    assert set(COUNTS) == set(Band)
    assert all(COUNTS[band].drafts >= COUNTS[band].right > 0 for band in Band)
    assert all(COUNTS[band].drafts >= ENOUGH for band in set(Band) - {Band.FRAME})


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

"""A week becomes a PNG of the said size, another one when a number differs, in whatever thread it is drawn."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

from PIL import Image

from bot.casework.reports.week_picture import HEIGHT, SCALE, WIDTH, draw_week
from bot.domain.questions.week_summary import Counts, DailyCounts, ShareWithBand, WeekCost, WeekSummary

PAPER = (251, 251, 250)


def a_row(*days: Counts | None, title: str = "Drafts", missing: str = "") -> DailyCounts:
    return DailyCounts(
        title=title, main="26 replies posted", rest="5 dismissed", note="2 wait now", days=days, missing=missing
    )


FULL = a_row((3, 1), (0, 0), (1, 0), (7, 2), (6, 1), (4, 0), (5, 1))
WEEK = WeekSummary(
    until="Fri 20 Nov 2026, 08:30 CET",
    labels=["Fri 13", "Sat 14", "Sun 15", "Mon 16", "Tue 17", "Wed 18", "Thu 19"],
    bars=[FULL, FULL, replace(FULL, warns=True)],
    gauge=ShareWithBand(title="First rounds that pass", value=0.75, shown="75 %", says="of 24 drafts", band=(0.6, 0.9)),
    cost=WeekCost(shown="$4.40", says="40 model runs"),
)


def opened(png: bytes) -> Image.Image:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return Image.open(BytesIO(png)).convert("RGB")


def test_it_is_a_png_of_the_said_size_on_paper_of_its_own() -> None:
    """Opaque to the corners: a dark theme does not shine through the words."""
    picture = opened(draw_week(WEEK))
    assert picture.size == (WIDTH * SCALE, HEIGHT * SCALE)
    corners = [(x, y) for x in (0, picture.width - 1) for y in (0, picture.height - 1)]
    assert {picture.getpixel(corner) for corner in corners} == {PAPER}

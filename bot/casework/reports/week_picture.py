"""Draws a week as a PNG: three rows of bars, a gauge and a cost, readable in light and dark chats.

Two tones that differ in lightness carry the meaning, so that no colour needs to be told from another; every number is
also written out. Pillow draws, with the font it brings (Latin-1 only), so the picture is the same everywhere. Why
Pillow: docs/decisions/week-picture.md. Imported only when a picture is wanted, because Pillow is large.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from bot.domain.questions.week_summary import Counts, DailyCounts, ShareWithBand, WeekCost, WeekSummary

WIDTH: Final = 480
HEIGHT: Final = 550
SCALE: Final = 2.5
"""Pixels to a unit: 1200 wide, sharp on a phone, where the chat shows it at about a third of that."""

_LEFT, _RIGHT = 22, WIDTH - 22
_ROW, _ROW_HEIGHT, _FOOT = 66, 120, 454
_BAR_TOP, _BAR_FOOT, _BAR_HALF = 58, 102, 16
_LEAST = 3
"""How high a part of a bar is at least: one of ten thousand is not nothing."""

_FITS_BESIDE: Final = 1_000

_PAPER, _INK, _GREY, _LINE = "#fbfbfa", "#1c2530", "#5b6775", "#d9dde3"
_MAIN, _WARNS, _REST = "#1d3557", "#a33a0a", "#9db6d5"


class _Canvas:
    """A sheet of paper measured in units of `SCALE` pixels; nothing on it is shared with any other."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (round(WIDTH * SCALE), round(HEIGHT * SCALE)), _PAPER)
        self._draw = ImageDraw.Draw(self.image)

    def box(self, left: float, top: float, right: float, foot: float, colour: str) -> None:
        """Fill a box, its right and lower edge not included; one without an inside is left out."""
        edges = [round(edge * SCALE) for edge in (left, top, right, foot)]
        if edges[2] > edges[0] and edges[3] > edges[1]:
            self._draw.rectangle((edges[0], edges[1], edges[2] - 1, edges[3] - 1), fill=colour)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 13,
        colour: str = _GREY,
        anchor: str = "ls",
        bold: bool = False,
    ) -> float:
        """Write on a base line at `y` and return where the text ends."""
        font = ImageFont.load_default(size * SCALE)
        stroke = 0.45 * SCALE if bold else 0.0
        self._draw.text((x * SCALE, y * SCALE), text, font=font, fill=colour, anchor=anchor, stroke_width=stroke)
        return x + self._draw.textlength(text, font=font) / SCALE


def draw_week(week: WeekSummary) -> bytes:
    """Return the picture as a PNG of `WIDTH` by `HEIGHT` units; safe in any thread."""
    sheet = _Canvas()
    sheet.text(_LEFT, 36, "The last 7 days", size=20, colour=_INK, bold=True)
    sheet.text(_RIGHT, 36, f"each bar 24 h, to {week.until}", anchor="rs")
    if week.uncounted:
        sheet.text(_LEFT, 56, week.uncounted, size=12, colour=_WARNS)
    for number, bars in enumerate(week.bars):
        _draw_bars(sheet, _ROW + number * _ROW_HEIGHT, bars)
    _draw_labels(sheet, _FOOT - 28, week.labels)
    sheet.box(_LEFT, _FOOT - 16, _RIGHT, _FOOT - 15, _LINE)
    _draw_gauge(sheet, _FOOT, week.gauge)
    _draw_cost(sheet, _FOOT, week.cost)
    png = BytesIO()
    sheet.image.save(png, "PNG")  # optimize=True: 3 % smaller, four times the work
    return png.getvalue()


def _draw_labels(sheet: _Canvas, y: float, labels: Sequence[str]) -> None:
    """Name the days once, under the last row: all rows stand on the same columns."""
    for number, label in enumerate(labels):
        sheet.text(_middle(number, len(labels)), y, label, size=12, anchor="ms")


def _middle(number: float, count: int) -> float:
    return _LEFT + (number + 0.5) * (_RIGHT - _LEFT) / count


def _draw_bars(sheet: _Canvas, top: float, bars: DailyCounts) -> None:
    sheet.text(_LEFT, top + 12, bars.title, size=15, colour=_INK, bold=True)
    sheet.box(_LEFT, top + _BAR_FOOT, _RIGHT, top + _BAR_FOOT + 1, _LINE)
    if bars.missing:
        sheet.text(WIDTH / 2, top + 66, f"not enough data: {bars.missing}", size=14, anchor="ms")
        return
    colour = _WARNS if bars.warns else _MAIN
    sheet.text(_RIGHT, top + 12, bars.note, size=14, colour=_INK, anchor="rs")
    end = _legend(sheet, _LEFT, top + 31, colour, bars.main)
    _legend(sheet, end + 18, top + 31, _REST, bars.rest)
    highest = max((sum(day) for day in bars.days if day), default=0)
    for number, day in enumerate(bars.days):
        if day is not None:
            _draw_day(sheet, _middle(number, len(bars.days)), top, day, highest, colour)
    unrecorded = [number for number, day in enumerate(bars.days) if day is None]
    if unrecorded:
        middle = _middle((unrecorded[0] + unrecorded[-1]) / 2, len(bars.days))
        sheet.text(middle, top + _BAR_FOOT - 8, "not on record", size=12, anchor="ms")


def _draw_day(sheet: _Canvas, middle: float, top: float, day: Counts, highest: int, colour: str) -> None:
    room, foot = _BAR_FOOT - _BAR_TOP, top + _BAR_FOOT
    main, rest = (max(_LEAST, room * part / highest) if part else 0 for part in day)
    sheet.box(middle - _BAR_HALF, foot - main, middle + _BAR_HALF, foot, colour)
    sheet.box(middle - _BAR_HALF, foot - main - rest, middle + _BAR_HALF, foot - main, _REST)
    if main and rest and day[0] < _FITS_BESIDE:
        sheet.text(middle + _BAR_HALF + 3, foot - 1, f"{day[0]:,}", size=11, colour=colour)
    sheet.text(middle, foot - main - rest - 5, f"{sum(day):,}", size=12, colour=_INK, anchor="ms")


def _legend(sheet: _Canvas, x: float, y: float, colour: str, text: str) -> float:
    sheet.box(x, y - 10, x + 10, y, colour)
    return sheet.text(x + 16, y, text)


def _draw_gauge(sheet: _Canvas, top: float, gauge: ShareWithBand) -> None:
    low, high = (_LEFT + (_RIGHT - _LEFT) * edge for edge in gauge.band)
    sheet.text(_LEFT, top + 12, gauge.title, size=15, colour=_INK, bold=True)
    sheet.text(_RIGHT, top + 12, gauge.shown, size=14, colour=_INK, anchor="rs")
    sheet.box(_LEFT, top + 22, _RIGHT, top + 30, _LINE)
    sheet.box(low, top + 22, high, top + 30, _REST)
    if gauge.value is not None:
        at = _LEFT + (_RIGHT - _LEFT) * gauge.value
        sheet.box(at - 2, top + 18, at + 2, top + 34, _MAIN)
    sheet.text(_LEFT, top + 48, gauge.says)


def _draw_cost(sheet: _Canvas, top: float, cost: WeekCost) -> None:
    end = sheet.text(_LEFT, top + 78, "Cost", size=15, colour=_INK, bold=True)
    sheet.text(end + 10, top + 78, cost.says)
    sheet.text(_RIGHT, top + 78, cost.shown, size=14, colour=_INK, anchor="rs")

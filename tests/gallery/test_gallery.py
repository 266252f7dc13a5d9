"""Every view is drawn in a browser, looked over for text that is cut or marks that are left over, and pictured.

With TRIAGE_SCREENSHOTS=<folder> the pictures and the page of docs/gallery.md are written there (`make screenshots`).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from slack_sdk.models.views import View

from tests.gallery.book import SCENES, printed
from tests.gallery.flaws import flaws
from tests.gallery.scene import Scene
from tests.gallery.stage import Stage
from tests.tables import each_row

_DOCS = Path(__file__).parents[2] / "docs"
_FOLDER = os.environ.get("TRIAGE_SCREENSHOTS")
_STYLE = """.msg-hover-actions { display: none !important }
.blocks { padding: 8px 10px; background: white }
.modal { border-radius: 0 }"""


_OF_EACH_KIND = ("card-validated", "alert-open", "evidence", "home-approver", "help")


@pytest.mark.browser
def test_a_view_of_each_kind_can_be_read(stage: Stage) -> None:
    """A card, an alert, a dialogue, App Home and a private answer, one after the other."""
    by_name = {scene.name: scene for scene in SCENES}
    for name in _OF_EACH_KIND:
        check_scene(stage, by_name[name])
        stage.clear()


@pytest.mark.full
@pytest.mark.browser
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_view_can_be_read(stage: Stage, scene: Scene) -> None:
    """Each of the gallery."""
    check_scene(stage, scene)


def check_scene(stage: Stage, scene: Scene) -> None:
    """Nothing is wider than its place, cut without a sign, or a mark that Slack would have drawn."""
    view = stage.show(scene)
    if _FOLDER:
        path = Path(_FOLDER, scene.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        view.screenshot(path=path, animations="disabled", style=_STYLE)
    expect(view).to_be_visible()
    view.evaluate("() => document.fonts.ready.then(() => true)")
    assert flaws(view, scene.said) == []


def test_the_page_shows_every_view() -> None:
    """docs/gallery.md is what the scenes say, and every picture is there."""
    page = _DOCS / "gallery.md"
    if _FOLDER:
        page.write_text(printed(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == printed(), "make screenshots prints it anew"
    assert [scene.path for scene in SCENES if not (_DOCS / "images" / scene.path).is_file()] == []


@each_row("scene", SCENES)
def test_every_time_is_the_readers(scene: Scene) -> None:
    """No view says a clock time in UTC but as what Slack shows where it knows no reader; hours name their zone."""
    views = [scene.shows] if isinstance(scene.shows, View) else scene.shows
    said = json.dumps([view.to_dict() for view in views], ensure_ascii=False)
    assert re.findall(r"(?<!\d-)\d\d:\d\d(?::\d\d)? UTC", re.sub(r"<!date\^[^<>]*>", "", said)) == []


def test_no_two_views_share_a_picture() -> None:
    """Nor a name."""
    paths = [scene.path for scene in SCENES]
    assert len(set(paths)) == len(paths)

"""docs/gallery.md, printed from the scenes; `make screenshots` writes it and its pictures."""

from __future__ import annotations

from tests.gallery.answers import ANSWERS, HOME, SAID
from tests.gallery.cards import CARDS
from tests.gallery.dialogues import DIALOGUES
from tests.gallery.feedback import FEEDBACK
from tests.gallery.offers import ALERTS, SUGGESTIONS
from tests.gallery.scene import Chapter, Scene

CHAPTERS = (CARDS, FEEDBACK, DIALOGUES, HOME, SAID, ANSWERS, ALERTS, SUGGESTIONS)
SCENES = tuple(scene for chapter in CHAPTERS for scene in chapter.scenes)

_INTRO = """# What am I looking at

Every view, what it means and what to do about it. `make screenshots` makes this page and its pictures.
"""


def printed() -> str:
    """Return the page."""
    contents = "\n".join(f"- [{chapter.title}](#{_anchor(chapter.title)})" for chapter in CHAPTERS)
    return "\n".join([_INTRO, contents, *map(_chapter, CHAPTERS)])


def _chapter(chapter: Chapter) -> str:
    return "\n".join([f"\n## {chapter.title}\n", chapter.about, *map(_scene, chapter.scenes)])


def _scene(scene: Scene) -> str:
    return f"\n### {scene.title}\n\n{scene.meaning}\n\n![](images/{scene.path})"


def _anchor(title: str) -> str:
    """Return the link to a heading, as GitHub makes it."""
    return "".join(sign for sign in title.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")

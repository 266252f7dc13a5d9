"""Images of a run: shown with the question, counted by their own measure, kept nowhere, and left out where refused."""

from __future__ import annotations

from pathlib import Path

from bot.agent.model_run import SpendLimitReached
from bot.ports import Image
from tests.agent.modelrun import FINAL, bench, look, playing
from tests.model_server import Turn

PICTURE = Image(media_type="image/png", data=b"\x89PNG" * 100_000)
"""As text these would be 173,000 tokens; an image is 5,000 at most."""


def test_images_stand_before_the_words_of_every_request() -> None:
    """The history of later turns holds them as well; the words stay the end of what is cached."""
    with playing(look(), FINAL) as server:
        place = bench(server)
        result = place.run(images=[PICTURE, PICTURE])
    assert result.images_shown == 2
    assert len(place.asked) == 2
    for body in place.asked:
        first, second, words = body["messages"][0]["content"]
        assert first == second
        assert first["source"]["media_type"] == "image/png"
        assert first["source"]["data"].startswith("iVBOR")
        assert (words["text"], words["cache_control"]) == ("why?", {"type": "ephemeral"})


def test_images_are_in_no_record(tmp_path: Path) -> None:
    """Neither the transcript nor the log of a run."""
    with playing(FINAL) as server:
        bench(server).run(images=[PICTURE], folder=tmp_path)
    kept = [path.read_text() for path in tmp_path.iterdir()]
    assert kept
    assert not any("iVBOR" in text for text in kept)


def test_images_a_model_refuses_are_left_out() -> None:
    """One request is lost, and the model is told that there were some; another refusal ends the run."""
    refusal = "messages.0.content.0.image.source.base64.data: image dimensions exceed max allowed size: 8000 pixels"
    with playing(Turn(status=400, error="invalid_request_error", message=refusal), FINAL) as server:
        place = bench(server)
        result = place.run(images=[PICTURE])
    assert result.images_shown == 0
    assert [block["type"] for block in place.asked[1]["messages"][0]["content"]] == ["text", "text"]
    assert "could not be shown" in place.asked[1]["messages"][0]["content"][1]["text"]
    with playing(Turn(status=400, error="invalid_request_error", message=refusal)) as server:
        place = bench(server)
        place.fail(images=[PICTURE])
    assert len(place.asked) == 2


def test_an_image_is_reserved_as_what_it_may_cost() -> None:
    """Not as the text it is sent as."""
    with playing(FINAL) as server:
        place = bench(server)
        limits = {"spend_usd": 0.1, "max_tokens": 1_000}
        assert place.run(images=[PICTURE], limits=limits).images_shown == 1
        place.fail(SpendLimitReached, images=[PICTURE] * 4, limits=limits)

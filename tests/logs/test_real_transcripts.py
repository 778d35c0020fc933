"""Of every agent in logs of real programs, if there are any here, something is shown of what was said."""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.samples import observed

from delegtop.base.clock import WallClock
from delegtop.model.spoken import Voice

FOLDER = os.environ.get("DELEGTOP_REAL_LOGS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="DELEGTOP_REAL_LOGS is not set")


def test_of_every_agent_something_is_shown_and_of_most_its_words() -> None:
    told: Counter[str] = Counter()
    voices: Counter[Voice] = Counter()
    for folder in sorted([*Path(FOLDER).glob("agents/*/*"), *Path(FOLDER).glob("agents_live/*/*")]):
        if not folder.is_dir():
            continue
        with observed(folder, clock=WallClock()) as seen:
            seen.read()
            for handle in range(len(seen.forest)):
                pages = seen.feed.transcript(seen.forest.delegation(handle))
                said = pages.last().said
                assert said, f"{folder}: {seen.forest.id(handle)}"
                assert not any("cannot be shown" in piece.text for piece in said), f"{folder}: {said}"
                told["events" if pages.told.startswith("No words") else "words"] += 1
                voices.update(piece.voice for piece in said)
    assert told["words"] > 5 * told["events"]
    assert min(voices[voice] for voice in Voice) > 0

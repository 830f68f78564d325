# SPDX-License-Identifier: BSD-3-Clause
"""The drawn pictures of the documents are those that their programs draw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import diagrams
import front_picture

ROOT = Path(__file__).resolve().parents[2]


def test_the_pictures_are_up_to_date():
    """Draw them again by the commands under them: docs/index.md, docs/architecture.md."""
    for name, drawn in (("redistribute", front_picture.draw()), ("house", diagrams.house())):
        assert (ROOT / f"docs/pictures/{name}.svg").read_text(encoding="utf-8") == drawn, name


def test_a_diagram_that_cannot_be_drawn_is_an_error():
    drawn = diagrams.sequence("sequenceDiagram\nparticipant A\nparticipant B\nA->>B: go\nB->>B: on")
    assert drawn.count('class="message"') == 2
    for wrong in ("graph TD", "sequenceDiagram\nparticipant A\nloop forever"):
        with pytest.raises(ValueError, match="drawn here"):
            diagrams.sequence(wrong)

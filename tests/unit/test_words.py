# SPDX-License-Identifier: BSD-3-Clause
"""tools/words.py finds private words in prose, and leaves code alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import words


def found(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, text: str) -> list[str]:
    """The faults of one file."""
    monkeypatch.setattr(words, "ROOT", folder)
    (folder / name).write_text(text, encoding="utf-8")
    return list(words.faults(folder / name))


def test_documents_are_read_without_their_code(monkeypatch, tmp_path):
    page = "A lane is open.\n\n```python\nlane = 1\n```\n\n`lane` and [text](lane.md).\n"
    assert found(monkeypatch, tmp_path, "page.md", page) == [
        "page.md:1: 'lane'; say: channel: a rendezvous in shared memory"
    ]


def test_a_sentence_begins_with_its_actor(monkeypatch, tmp_path):
    page = "It ends. What is sent\nis packed.\n\nWhere it lies.\n\n- Who waits\n\n| what | a |\n"
    assert [line.split(":")[1] for line in found(monkeypatch, tmp_path, "page.md", page)] == [
        "1",
        "4",
        "6",
        "8",
    ]
    assert not found(monkeypatch, tmp_path, "page.md", "An error says what went wrong.\n")


def test_of_sources_comments_are_read(monkeypatch, tmp_path):
    cpp = 'int lane;  // the mail\nauto s = "// a voice";\n/* heard\n   by all */\n'
    lines = found(monkeypatch, tmp_path, "room.cpp", cpp)
    assert [line.split(";")[0] for line in lines] == ["room.cpp:1: 'mail'", "room.cpp:3: 'heard'"]
    lines = found(monkeypatch, tmp_path, "room.F90", "lane = 1  ! seats\ntext = '! lane'\n")
    assert [line.split(";")[0] for line in lines] == ["room.F90:1: 'seats'"]
    python = 'lane = 1\ndef f():\n    """A lane.\n\n    >>> lane\n    """\n    # a wish\n'
    lines = found(monkeypatch, tmp_path, "room.py", python)
    assert [line.split(";")[0] for line in lines] == ["room.py:3: 'lane'", "room.py:7: 'wish'"]


def test_of_rooms_that_move_arrays_names_are_read(monkeypatch, tmp_path):
    monkeypatch.setattr(words, "ROOT", tmp_path)
    for room in ("comm", "layout"):
        (tmp_path / "src" / room).mkdir(parents=True)
        cpp = "int agrees_by_mail;  // tell\nstruct LettersOut {};\nint in_place, replaced;\n"
        (tmp_path / "src" / room / "a.cpp").write_text(cpp, encoding="utf-8")
    assert list(words.names(tmp_path / "src" / "layout" / "a.cpp")) == []
    lines = list(words.names(tmp_path / "src" / "comm" / "a.cpp"))
    assert [line.split(";")[0] for line in lines] == [
        "src/comm/a.cpp:1: the name 'agrees_by_mail'",
        "src/comm/a.cpp:2: the name 'LettersOut'",
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""`hocket demo`: its photographs, its comparison, its figures, its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hocket.cli import demo, demo_ranks, demo_report, photographs
from hocket.cli.main import main

from json_keys import require_keys


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, *words: str) -> str:
    """The complaint about a wrong command line."""
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("hocket: ") and said.err.count("\n") <= 6
    return said.err


def test_photographs_are_grey_square_and_all_different():
    frames, names = photographs.stream(photographs.find(None), 32, 30)
    assert frames.shape == (30, 32, 32) and frames.dtype == np.uint8
    assert len(names) == 30 and len({frame.tobytes() for frame in frames}) == 30
    assert min(frame.std() for frame in frames) > 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: None, "no such directory"),
        (lambda: Path("pictures").write_text(""), "is a file"),
        (lambda: Path("pictures").mkdir(), "holds no image"),
        (
            lambda: (Path("pictures").mkdir(), Path("pictures/a.png").write_text("no image")),
            "cannot be read as an image",
        ),
    ],
)
def test_a_wrong_folder_of_images_is_refused(capsys, make, message):
    make()
    assert main(["demo", "--images", "pictures", "--size", "8"]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--procs", "1"], ["--size", "0"], ["--frames", "0"], ["--size", "big"]]
)
def test_wrong_numbers_are_refused(capsys, words):
    assert words[0] in refused(capsys, "demo", *words)


def test_the_verdict_finds_one_wrong_element_and_nan():
    image = np.random.default_rng(1).integers(0, 255, (24, 24), dtype=np.uint8)
    right = np.fft.fft2(image.astype(float))
    assert demo_ranks.verdict(right, image)["right"]
    for wrong in (1e-6, np.nan):
        spectrum = right.copy()
        spectrum[3, 5] += wrong
        assert not demo_ranks.verdict(spectrum, image)["right"]
    assert not demo_ranks.verdict(right.T, image)["right"]
    assert not demo_ranks.verdict(right[:-1], image)["right"]


def test_a_wrong_result_is_a_non_zero_exit(monkeypatch, capsys):
    honest = demo_report.figures

    def one_wrong(answers, warmup):
        for answer in answers["cols"]:
            for check in answer["checks"][:1]:
                check["right"] = False
        return honest(answers, warmup)

    monkeypatch.setattr(demo_report, "figures", one_wrong)
    assert main(["demo", "--size", "16", "--frames", "3", "--procs", "2"]) == 1
    assert "WRONG: image 0" in capsys.readouterr().out


@pytest.mark.parametrize(("procs", "size"), [pytest.param(3, 20, marks=pytest.mark.soak), (6, 4)])
def test_the_demo_runs_on_uneven_and_on_more_processes_than_rows(capsys, procs, size):
    words = ["demo", "--procs", str(procs), "--size", str(size), "--frames", "14", "--explain"]
    assert main([*words, "--json", "d.json"]) == 0
    text = capsys.readouterr().out
    assert text.count("14 of 14 spectra equal the serial FFT") == 3
    assert "7 descriptor" not in text and "3 descriptor" in text
    assert "the transfer alone: persistent requests" in text and "send and recv" in text
    facts = json.loads(Path("d.json").read_text())
    require_keys("demo", facts)
    assert facts["ranks"] == procs
    assert len(facts["transfer_alone_s"]) == 3 and min(facts["transfer_alone_s"].values()) > 0
    for form in facts["forms"].values():
        require_keys("demo form", form)
        assert form["right"] == form["images"] == 14
        assert 0 < form["minimum_s"] <= form["median_s"] <= form["p99_s"]
        assert form["timed"] == 10
    assert f"teams          of {procs} processes: barrier" in text
    assert {what: set(ways) for what, ways in facts["teams_s"].items()} == {
        "barrier": {"team", "MPI"},
        "sum": {"team", "MPI"},
        "iprobe": {"task", "messages"},
    }
    assert text.count("gained") == 3
    assert all(0 < each < 10 for ways in facts["teams_s"].values() for each in ways.values())
    for name in ("input", "spectrum", "plan"):
        assert Path(f"demo-output/{name}.png").stat().st_size > 1000


def test_a_stream_too_short_to_time_says_so_in_words_and_in_json(capsys):
    words = ["demo", "--procs", "2", "--size", "8", "--frames", "2", "--json", "short.json"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.count("too few images to time") == 3
    assert text.count("untimed") == 12 and "nan" not in text
    facts = json.loads(Path("short.json").read_text(), parse_constant=pytest.fail)
    assert set(facts["profile_s_per_image"]["rows"].values()) == {None}


def test_message_counts_are_the_papers():
    for each in (1, 2, 4, 8):
        made = demo_report.plans(16, each, each)
        everyone = 2 * each
        assert made["pipelined"].message_count == everyone**2 // 4
        assert made["data-parallel"].message_count == everyone * (everyone - 1)


def test_explain_knows_what_lies_in_one_run():
    plan = demo_report.plans(16, 2, 2)["pipelined"]
    assert not demo_report.in_one_run(plan, "src", 0)
    assert demo_report.in_one_run(plan, "dst", 0)
    assert demo_report.in_one_run(demo_report.plans(16, 2, 1)["pipelined"], "src", 1)
    assert not demo_report.in_one_run(demo_report.plans(16, 2, 2)["data-parallel"], "dst", 1)


def odd_images(folder: Path) -> None:
    """Files that people do have: each of another kind."""
    from PIL import Image

    rng = np.random.default_rng(3)
    folder.mkdir()
    grey = rng.integers(0, 255, (30, 20), dtype=np.uint8)
    Image.fromarray(grey[:, :1]).save(folder / "a-one-pixel-wide.png")
    Image.fromarray(grey[:1, :1]).save(folder / "b-one-pixel.png")
    Image.fromarray(rng.integers(0, 255, (9, 9, 4), dtype=np.uint8)).save(folder / "c-rgba.png")
    Image.fromarray(rng.integers(0, 65535, (9, 9), dtype=np.uint16)).save(folder / "d-16-bit.png")
    Image.fromarray(grey).convert("P").save(folder / "e-palette.gif")
    Image.fromarray(grey > 99).save(folder / "f-1-bit.bmp")
    real = rng.normal(size=(8, 8)).astype(np.float32)
    real[0, 0] = np.nan
    Image.fromarray(real).save(folder / "g-$real$.tiff")
    (folder / "h-text.png").write_text("no image")
    (folder / "i-cut-off.png").write_bytes((folder / "c-rgba.png").read_bytes()[:60])
    (folder / "j-empty.jpg").touch()
    (folder / "k-folder.png").mkdir()


def test_ones_own_images_are_used_and_broken_ones_left_out_by_name(capsys):
    odd_images(Path("odd"))
    Path("odd/readme.txt").write_text("not an image")
    words = ["demo", "--images", "odd", "--size", "8", "--frames", "14", "--procs", "2"]
    assert main([*words, "--out", "shown"]) == 0
    said = capsys.readouterr()
    for name in ("a-one-pixel-wide", "c-rgba", "d-16-bit", "f-1-bit", "g-$real$"):
        assert name in said.out
    for name in ("h-text.png", "i-cut-off.png", "j-empty.jpg"):
        assert f"left out, 'odd/{name}' cannot be read" in said.err
    assert "k-folder" not in said.out + said.err and "readme" not in said.out + said.err
    for name in ("input", "plan"):
        assert Path(f"shown/{name}.png").stat().st_size > 1000


def test_what_is_read_is_grey_8_bit_on_white():
    from PIL import Image

    Image.new("RGBA", (2, 2), (0, 0, 0, 0)).save("clear.png")
    assert np.asarray(photographs.read(Path("clear.png"))).tolist() == [[255, 255], [255, 255]]
    Image.fromarray(np.array([[1000, 2000], [3000, 3000]], np.uint16)).save("deep.png")
    assert np.asarray(photographs.read(Path("deep.png"))).tolist() == [[0, 127], [255, 255]]


def test_frames_beyond_memory_are_refused(capsys):
    words = ["demo", "--size", "4000000000", "--frames", "4000000000"]
    assert main(words) == 1
    assert "do not fit into memory" in capsys.readouterr().err


def test_progress_is_plain_where_there_is_no_terminal(capsys):
    with demo._Progress(3) as progress:
        for frame in range(3):
            progress.line(
                0, "out", demo_ranks.PROGRESS + f'{{"form": "pipelined", "frame": {frame}}}'
            )
        progress.line(0, "out", "something else")
    assert capsys.readouterr().out == "  pipelined: 3 of 3 images\nsomething else\n"

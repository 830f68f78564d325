# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of remaps: what it measures, and the cost model that it fits."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hocket.bench import remap_figures
from hocket.bench.command import main
from hocket.bench.remap_model import Model, Sample, fit

pytestmark = pytest.mark.soak

QUICK = ["--seconds", "0", "--warmup", "1", "--min-runs", "2", "--sample-seconds", "0"]


def sampled(model, noise=0.0):
    random = np.random.default_rng(0)
    return [
        Sample(n, p, t, model.seconds(n, p, t) * math.exp(random.normal(0, noise)))
        for n in (10_000, 300_000, 5_000_000)
        for p in (1, 2, 4, 8)
        for t in (1, 2)
    ]


@pytest.mark.parametrize(
    "model", [Model(1e-9, 5e-6, 2e8), Model(2e-9, 0.0, 1e9), Model(1e-9, 1e-5, math.inf)]
)
def test_the_fit_finds_what_the_samples_were_made_of(model):
    found = fit(sampled(model))
    assert found is not None
    assert found.access == pytest.approx(model.access, rel=1e-6)
    assert found.latency == pytest.approx(model.latency, rel=1e-6, abs=1e-12)
    assert 1 / found.bandwidth == pytest.approx(1 / model.bandwidth, rel=1e-6, abs=1e-15)


def test_the_fit_bears_noise_and_never_goes_below_zero():
    model = Model(1e-9, 5e-6, 2e8)
    found = fit(sampled(model, noise=0.1))
    assert found is not None
    assert found.access == pytest.approx(model.access, rel=0.2)
    assert found.bandwidth == pytest.approx(model.bandwidth, rel=0.3)
    odd = fit([Sample(1000, 1, 1, 1.0), Sample(1000, 2, 1, 0.1), Sample(1000, 4, 1, 0.05)])
    assert odd is not None and min(odd.access, odd.latency, 1 / odd.bandwidth) >= 0
    assert fit([]) is None


def test_equation_5_as_the_paper_has_it():
    model = Model(1e-9, 1e-6, 1e8)
    n = 64 * 512 * 128
    wanted = 2 * 1e-9 * n / 8 + 2 * 1e-6 * 3 + 2 * n / (1e8 * 4) * 3 / 4
    assert model.seconds(n, 4, 2) == pytest.approx(wanted)
    # Latency alone: one process, all threads.
    assert Model(1e-9, 1.0, math.inf).advice(n, 8)[0][:2] == (1, 8)
    assert {way[:2] for way in model.advice(n, 6)} == {(1, 6), (2, 3), (3, 2), (6, 1)}


def test_every_contestant_is_right(tmp_path, capsys):
    target = tmp_path / "out.json"
    words = ["remap", "--shape", "8,12,5", *QUICK, "--json", str(target), "--timeout", "120"]
    assert main(words) == 0, capsys.readouterr().out
    figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
    assert len([f for f in figures if "median" in f]) == 5
    uneven = ["remap", "--shape", "7,5,3", "--axes", "2,1,0", "--ranks", "3", *QUICK]
    assert main([*uneven, "--json", str(target), "--timeout", "120"]) == 0
    figures = json.loads(target.read_text("utf-8"))["tables"][0]["figures"]
    assert len([f for f in figures if "median" in f]) == 4
    assert [f["name"] for f in figures if "not_run" in f] == ["two arrays, Alltoall"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shape", "4,x,2"], "integers"),
        (["--axes", "1,0"], "name each dimension"),
        (["--dist", "(BLOCK, BLOCK, *)", "--procs", "2,2"], "not 2 processes"),
        (["--fit", "--figure", "3"], "one of them"),
        (["--plot", "x.png"], "--figure"),
        (["--cores", "0"], "1 or more"),
    ],
)
def test_wrong_words(words, said, capsys):
    assert main(["remap", *words]) == 2
    assert said in capsys.readouterr().err


def document():
    model = Model(1e-9, 1e-6, 1e8)
    tables = []
    for p, t in ((1, 1), (2, 1), (1, 2)):
        figures = [
            {"name": name, "median": model.seconds(8 * 6 * 4, p, t)}
            for name in remap_figures.METHODS
        ]
        tables.append(
            {"parameters": {"shape": [8, 6, 4], "processes": p, "threads": t}, "figures": figures}
        )
    return {"tables": tables}


@pytest.mark.parametrize("number", [3, 4])
def test_figures_are_printed_and_drawn(number, tmp_path, capsys):
    target = tmp_path / "figure.png"
    remap_figures.finish_figure(number, document(), str(target))
    printed = capsys.readouterr().out
    assert "4 x 6 x 8" in printed and "vacancy tracking" in printed and "2.00" in printed
    assert target.read_bytes().startswith(b"\x89PNG")


def test_fits_are_printed(capsys):
    remap_figures.finish_fit(document(), 2)
    printed = capsys.readouterr().out
    assert "M = 1.00 ns" in printed and "1.00" in printed
    assert "processes x threads = 1 x 2 (" in printed


def test_a_fit_without_messages_advises_every_way_alike(capsys):
    model = Model(1e-9, 0.0, math.inf)
    only = document()
    for table in only["tables"]:
        p = table["parameters"]
        for figure in table["figures"]:
            figure["median"] = model.seconds(8 * 6 * 4, p["processes"], p["threads"])
    remap_figures.finish_fit(only, 2)
    printed = capsys.readouterr().out
    assert "processes x threads = 1 x 2 or 2 x 1 (" in printed
    assert "B = inf: no time" in printed


@pytest.mark.parametrize("words", [["--fit"], ["--figure", "3"], ["--figure", "4"]])
def test_every_command_of_the_paper_runs(words, tmp_path, capsys):
    picture = tmp_path / "figure.png"
    plot = [] if words == ["--fit"] else ["--plot", str(picture)]
    more = ["--shape", "8,12,5", "--shape", "16,24,8", *plot, *QUICK, "--timeout", "120"]
    assert main(["remap", *words, *more]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    assert "8 x 24 x 16" in printed
    assert ("equation 5" in printed) if words == ["--fit"] else picture.stat().st_size > 1000

# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers`: the list of claims, and those that need no measuring."""

import importlib
import json
import tarfile
from pathlib import Path

import pytest

from hocket_cli.main import main
from hocket_papers import model
from hocket_papers.command import as_tables

pytestmark = pytest.mark.soak

TITLES, CLAIMS = model.load()
COUNTED = [
    "double-standards.messages",
    *(f"data-transfer-library.{name}" for name in ("all-to-all", "centralized", "staged")),
    *(f"data-transfer-library.{name}" for name in ("multistage", "hybrid", "ethernet")),
    "data-transfer-library.message-count",
    "vacancy-tracking.cycle",
    "vacancy-tracking.shift",
    "vacancy-tracking.counts",
    "vacancy-tracking.memory",
    "double-standards.amortized",
    "mpi-smpss.deadlock",
]


def test_each_claim_has_a_place_and_a_test_or_a_reason():
    assert len(CLAIMS) == len({(claim.paper, claim.name) for claim in CLAIMS})
    for claim in CLAIMS:
        assert claim.paper in TITLES and claim.place and claim.text.endswith(".")
        if claim.test:
            module = importlib.import_module(f"hocket_papers.{claim.paper.replace('-', '_')}")
            assert callable(getattr(module, claim.test)), claim


def test_what_is_counted_holds(tmp_path, capsys):
    target = tmp_path / "verdicts.json"
    assert main(["papers", *COUNTED, "--json", str(target)]) == 0
    said = capsys.readouterr().out
    verdicts = {each["claim"]: each for each in json.loads(target.read_text())["claims"]}
    counted = ("messages", "all-to-all", "centralized", "staged", "multistage", "hybrid")
    for name in (
        *counted,
        "message-count",
        "cycle",
        "shift",
        "counts",
        "memory",
        "amortized",
        "deadlock",
    ):
        assert verdicts[name]["verdict"] == model.HOLDS, verdicts[name]
    assert "P = 8: 16 and 56" in said and "4114 of 16, 8, 4, 2" in said


def test_a_wrong_count_does_not_hold():
    (claim,) = (one for one in CLAIMS if one.name == "counts")
    numbers = {**claim.numbers, "counts": [4113, 29140, 132, 42]}
    wrong = model.Claim("vacancy-tracking", "counts", "here", "wrong", numbers, "counts")
    assert model.try_claim(wrong, model.Bench()).word == model.FAILS


def _tried(name, document):
    (claim,) = (one for one in CLAIMS if f"{one.paper}.{one.name}" == name)
    bench = model.Bench()
    bench.bench = lambda *words: document
    return model.try_claim(claim, bench)


def _curves(*gains):
    curves = [{"N": n, "data over it": list(each)} for n, each in zip((64, 256), gains)]
    return {"tables": [], "curves": curves}


@pytest.mark.parametrize(
    ("gains", "word"),
    [
        (((0.8, 2.0, 4.0), (0.7, 1.0, 1.5)), model.HOLDS),
        (((0.8, 2.0, 4.0), (1.6, 1.0, 1.5)), model.FAILS),  # falls with P
        (((0.8, 2.0, 4.0), (0.7, 1.0, 5.0)), model.FAILS),  # rises with N
        (((0.5, 0.6, 0.9), (0.4, 0.5, 0.6)), model.FAILS),  # never a gain
    ],
)
def test_a_simulated_gain_must_rise_with_processors_and_fall_with_size(gains, word):
    verdict = _tried("double-standards.fft-scale", _curves(*gains))
    assert verdict.word == word and f"N = 64: {gains[0][0]:.2f}" in verdict.ours


def test_a_block_a_task_must_win_on_every_number_of_processors():
    name = "double-standards.multiblock-scale"
    assert _tried(name, _curves((2.0, 1.5, 1.1))).word == model.HOLDS
    assert _tried(name, _curves((2.0, 1.5, 0.9))).word == model.FAILS


@pytest.mark.parametrize(
    ("alone", "word"), [(4.0, model.HOLDS), (2.0, model.FACTOR), (0.9, model.FAILS)]
)
def test_the_hybrid_of_processes_and_threads_is_tried_in_simulation(alone, word):
    def table(threads, seconds):
        figures = [{"name": name, "median": seconds} for name in ("in place", "two-array")]
        about = {"processors": 64, "processors a process": threads}
        return {"parameters": about, "figures": figures}

    document = {"tables": [table(1, alone), table(4, 1.0)]}
    assert _tried("vacancy-tracking.hybrid", document).word == word
    document = {"tables": [table(16, alone), table(4, 1.0)]}
    fewer = _tried("vacancy-tracking.threads", document).word
    assert (fewer == model.FAILS) == (alone < 1)


def _remaps(times):
    """Seconds of both methods by processors and processors a process."""
    return {
        "tables": [
            {
                "parameters": {"processors": procs, "processors a process": each},
                "figures": [{"name": name, "median": time} for name, time in zip(_METHODS, both)],
            }
            for (procs, each), both in times.items()
        ]
    }


_METHODS = ("in place", "two-array")


def test_the_remap_over_nodes_is_judged_by_its_curve():
    places = [(procs, each) for procs in (16, 32, 64, 128) for each in (1, 4, 16)]
    falling = _remaps({place: (1 / place[0], 1 / place[0]) for place in places})
    words = {"hybrid-scaling": model.HOLDS, "dip": model.FAILS, "close": model.HOLDS}
    for name, word in words.items():
        assert _tried(f"vacancy-tracking.{name}", falling).word == word
    rising = _remaps({place: (place[0], 2 * place[0]) for place in places})
    words = {"hybrid-scaling": model.FAILS, "dip": model.HOLDS, "close": model.FAILS}
    for name, word in words.items():
        assert _tried(f"vacancy-tracking.{name}", rising).word == word
    one_a_node = "vacancy-tracking.one-a-node"
    for (near, far), word in (((2, 1), "HOLDS"), ((1, 2), "FAILS"), ((0.5, 1), "FAILS")):
        times = dict.fromkeys(places, (1, 1))
        times.update({(32, 16): (near, near), (64, 16): (far, far)})
        assert _tried(one_a_node, _remaps(times)).word == getattr(model, word)


_WHO = ("hocket", "MPI", "MPI, with a barrier")


def _teams(seconds, most=1.0):
    return {
        "tables": [
            {
                "parameters": {"operation": name},
                "figures": [
                    {"name": who, "minimum": 1e-9 * each, "percentile_99": 1e-9 * most * each}
                    for who, each in zip(_WHO, (ours, theirs, theirs))
                ],
            }
            for name, (ours, theirs) in seconds.items()
        ]
    }


@pytest.mark.parametrize(
    ("claim", "seconds", "most", "word"),
    [
        ("steady", {"wait": (300, 900)}, 1.5, model.HOLDS),
        ("steady", {"wait": (300, 900)}, 5.0, model.FAILS),
        ("gather", {"putget": (300, 1), "gather": (310, 1)}, 1, model.FACTOR),
        ("gather", {"putget": (300, 1), "gather": (900, 1)}, 1, model.HOLDS),
        *(
            (
                "message-passing",
                {
                    "reduce_add": (300, 700),
                    "rank": (300, 600),
                    "scan_add": (300, theirs),
                },
                1,
                word,
            )
            for theirs, word in ((900, model.FACTOR), (200, model.FAILS))
        ),
    ],
)
def test_teams_are_judged_by_their_table(claim, seconds, most, word, monkeypatch):
    monkeypatch.setattr(model.os, "sched_getaffinity", lambda _: {0, 1})
    assert _tried(f"papers.{claim}", _teams(seconds, most)).word == word


def _transfers(seconds):
    return {
        "tables": [
            {
                "parameters": {"senders": S, "receivers": R, "shape": [n, n]},
                "figures": [{"name": "direct", "median": seconds(S, R, n)}],
            }
            for S, R in ((8, 8), (8, 4), (4, 2))
            for n in (16, 64, 256, 1024)
        ]
    }


def test_equation_1_must_predict_other_sizes():
    def equation(S, R, n):
        return 1e-4 * max(S, R) + 1e-6 * n * n / ((S + R) / 2)

    found = _transfers(equation)
    assert _tried("data-transfer-library.prediction", found).word == model.HOLDS
    assert _tried("data-transfer-library.sizes", found).word == model.HOLDS
    others = _transfers(lambda S, R, n: equation(S, R, n) * (1 if S == R else 4))
    assert _tried("data-transfer-library.prediction", others).word == model.FAILS
    flat = _transfers(lambda S, R, n: S * equation(8, 8, n))
    assert _tried("data-transfer-library.sizes", flat).word == model.FAILS


def test_schedules_and_widths_are_judged_by_their_tables(monkeypatch):
    monkeypatch.setattr(model.os, "sched_getaffinity", lambda _: {0, 1})

    def document(more, chunks, narrow):
        threads = [
            {
                "parameters": {"threads": count, "shape": shape, "dtype": dtype},
                "figures": [
                    {"name": name, "median": time if count == 2 else more * time}
                    for name, time in (
                        ("in place, static", 1.0),
                        ("in place, affinity", 1.0),
                        ("in place, dynamic,1", chunks),
                        ("two arrays, copied back", 2.0 if dtype == "float64" else narrow),
                        ("hocket in place, cycles", 1.0),
                    )
                ],
            }
            for shape in ([128, 512, 64], [256, 1024, 16])
            for dtype in ("float32", "float64")
            for count in (1, 2, 4)
        ]
        return {"tables": threads}

    assert _tried("vacancy-tracking.more-threads", document(1.5, 1, 1)).word == model.HOLDS
    assert _tried("vacancy-tracking.more-threads", document(0.5, 1, 1)).word == model.FAILS
    assert _tried("vacancy-tracking.small-chunks", document(1, 2, 1)).word == model.HOLDS
    assert _tried("vacancy-tracking.small-chunks", document(1, 1.2, 1)).word == model.FACTOR
    assert _tried("vacancy-tracking.small-chunks", document(1, 1, 1)).word == model.FAILS
    assert _tried("vacancy-tracking.real8", document(1, 1, 1.5)).word == model.HOLDS
    assert _tried("vacancy-tracking.real8", document(1, 1, 2.5)).word == model.FAILS


@pytest.mark.parametrize(
    ("times", "word"),
    [
        ((1.0, 1.2, 1.3, 1.5), model.HOLDS),
        ((1.0, 1.2, 1.3, 1.1), model.FAILS),
        ((1.0, 0.6, 0.4, 0.3), model.FAILS),
    ],
)
def test_processes_alone_must_get_slower_with_their_number(times, word):
    tables = [
        {
            "parameters": {"processors": procs, "processors a process": 1},
            "figures": [{"name": "in place", "median": time}],
        }
        for procs, time in zip((16, 32, 64, 128), times)
    ]
    assert _tried("vacancy-tracking.scaling", {"tables": tables}).word == word


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ((19.0, 2.8, 1.8), model.HOLDS),
        ((19.0, 1.8, 1.8), model.FACTOR),
        ((1.0, 2.8, 1.8), model.FAILS),
    ],
)
def test_an_element_at_a_time_must_cost_more_a_word(words, word):
    names = ("generic, per element", "optimised", "prepared")
    fits = {name: {"t_m": 1e-6, "t_w": 1e-9 * each} for name, each in zip(names, words)}
    assert _tried("data-transfer-library.generic", {"fits": fits}).word == word
    assert _tried("data-transfer-library.startups", {"fits": fits}).word == model.HOLDS
    fits["generic, per element"]["t_m"] = 1e-5
    assert _tried("data-transfer-library.startups", {"fits": fits}).word == model.FAILS


@pytest.mark.parametrize(
    ("flow", "word"), [(1.5, model.HOLDS), (1.2, model.FACTOR), (1.02, model.FAILS)]
)
def test_a_flow_must_gain_over_the_look_ahead(flow, word):
    curves = [
        {"form": form, "bandwidth": [0.1, 1.0], "plain over it": [most, 1.0]}
        for form, most in (("lookahead", 1.0), ("flow", flow))
    ]
    assert _tried("mpi-smpss.gain", {"tables": [], "curves": curves}).word == word


def test_what_was_not_simulated_is_no_verdict():
    missing = {"tables": [{"figures": [{"name": "data", "not_run": "there is no smpirun"}]}]}
    verdict = _tried("double-standards.convolution-scale", missing)
    assert verdict.word == model.UNTESTED and "there is no smpirun" in verdict.why


def test_a_command_that_cannot_run_here_is_no_verdict_on_the_claim(monkeypatch):
    claim = model.Claim("double-standards", "model", "here", "text", {}, "model")
    bench = model.Bench()
    monkeypatch.setattr(model.sys, "executable", "/bin/false")
    verdict = model.try_claim(claim, bench)
    assert verdict.word == model.UNTESTED and "hocket app pingpong" in verdict.why


def test_the_figures_and_reports_of_what_is_measured_are_kept(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "vacancy-tracking.two-array-schedules", "--quick"]) == 0
    kept = {path.suffix: path for path in (tmp_path / "papers-output").iterdir()}
    assert sorted(kept) == [".json", ".png"] and kept[".png"].stat().st_size > 5000
    report = json.loads(kept[".json"].read_text(encoding="utf-8"))
    assert report["benchmark"] == "permute" and report["tables"]
    assert "figures and reports: papers-output" in capsys.readouterr().out


def test_the_page_shows_the_run_that_was_kept():
    """docs/papers/verdicts.md has the report's tables, and names the claims that were not tried."""
    root = Path(__file__).resolve().parents[2]
    with tarfile.open(root / "papers" / "reports.tar.xz") as reports:
        document = json.load(reports.extractfile("verdicts.json"))
    tried = [(each["paper"], each["claim"], each["text"]) for each in document["claims"]]
    page = (root / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8")
    claims = [(claim.paper, claim.name, claim.text) for claim in CLAIMS]
    assert tried == [claim for claim in claims if claim in tried] and len(tried) > 40
    assert as_tables(document) in page
    missing = [
        f"`{paper}.{name}`" for paper, name, text in claims if (paper, name, text) not in tried
    ]
    assert [name for name in missing if name not in page] == []


def test_what_is_counted_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "vacancy-tracking.shift"]) == 0
    assert not list(tmp_path.iterdir())


def test_the_list_tries_nothing(capsys):
    assert main(["papers", "--list"]) == 0
    said = capsys.readouterr().out
    assert "→" not in said and said.count(" · ") == len(TITLES)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["vacancy-trackin"], "did you mean 'vacancy-tracking'"),
        (["vacancy-tracking.cycles"], "did you mean 'vacancy-tracking.cycle'"),
        (["--json", "nowhere/at/all.json"], "there is no folder"),
        (["--keep", __file__], "that is a file"),
        (["--kernels", "nowhere.json"], "there is no such file"),
    ],
)
def test_what_is_not_there_is_named(words, hint, capsys):
    assert main(["papers", *words]) == 2
    assert hint in capsys.readouterr().err


def test_an_entry_without_test_and_reason_is_refused(tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text('[p]\ntitle="t"\nauthors="a"\n[p.claims.c]\nplace="s"\ntext="T."\n')
    with pytest.raises(ValueError, match=r"p\.c"):
        model.load(path)

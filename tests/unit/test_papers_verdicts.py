# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers`: verdicts follow from findings, samples and margins. All samples are made up."""

import dataclasses
import importlib

import pytest
from hocket.papers import judge, model
from hocket.papers.judge import CONTRADICTED, DIRECTION, FACTOR, HOLDS, NOT_SHOWN, Finding

TITLES, CLAIMS = model.load()
NUMBER = {"is": 2, "neutral": 1, "factor": 1.5}


@pytest.mark.parametrize(
    ("value", "expect", "word"),
    [
        (2.1, NUMBER, HOLDS),
        (2.6, NUMBER, FACTOR),
        (1.4, NUMBER, FACTOR),
        (9.0, NUMBER, DIRECTION),  # the right side, but not the paper's number
        (1.06, NUMBER, NOT_SHOWN),  # 6 % do not stand for a factor of 2
        (0.94, NUMBER, NOT_SHOWN),
        (0.5, NUMBER, CONTRADICTED),
        (1.0, {**NUMBER, "tie": True}, CONTRADICTED),
        (0.5, {"is": 0.5, "neutral": 1}, HOLDS),  # the paper's side is below
        (0.8, {"is": 0.5, "neutral": 1}, DIRECTION),
        (1.3, {"is": 0.5, "neutral": 1}, CONTRADICTED),
        (7.0, {"is": [5, 50], "neutral": 1, "factor": 2}, HOLDS),
        (3.0, {"is": [5, 50], "neutral": 1, "factor": 2}, FACTOR),
        (1.5, {"is": [5, 50], "neutral": 1, "factor": 2}, DIRECTION),
        (1.2, {"least": 1}, HOLDS),
        (1.05, {"least": 1}, NOT_SHOWN),
        (0.8, {"least": 1}, CONTRADICTED),
        (0.2, {"most": 0.25}, HOLDS),
        (0.24, {"most": 0.25}, NOT_SHOWN),
        (0.3, {"most": 0.25}, CONTRADICTED),
        (0.3, {"most": 0.25, "factor": 1.5}, FACTOR),
        (0.9, {"least": 0.77, "most": 1.3}, HOLDS),
        (1.6, {"least": 0.77, "most": 1.3}, CONTRADICTED),
        (0.0, {"most": 0.01}, HOLDS),
        (0.0, {"is": 1}, CONTRADICTED),
    ],
)
def test_a_measured_number_has_each_category(value, expect, word):
    finding = Finding("N = 64", value, samples=9)
    verdict = judge.judge([finding], expect, 0.10, 7)
    assert verdict.word == word and verdict.findings == [finding]
    assert (verdict.why == "") == (word == HOLDS)


def test_a_count_has_no_noise():
    assert judge.judge([Finding("", 16)], {"is": 16}, 0, 7).word == HOLDS
    assert judge.judge([Finding("", 17)], {"is": 16}, 0, 7).word == CONTRADICTED


def test_too_few_samples_show_nothing_whatever_they_are():
    for value in (0.1, 1.0, 2.0, 100.0):
        verdict = judge.judge([Finding("", value, samples=3)], NUMBER, 0.10, 7)
        assert verdict.word == NOT_SHOWN and "3 samples" in verdict.why
    few = [Finding("a", 2.0, samples=9), Finding("b", 2.0, samples=3)]
    assert judge.judge(few, NUMBER, 0.10, 7).word == NOT_SHOWN


def test_the_spread_of_the_samples_adds_to_the_margin():
    def measured(least, runs):
        slow = {"median": 1.3, "minimum": 1.3 * least, "runs": runs}
        fast = {"median": 1.0, "minimum": least, "runs": runs}
        return judge.judge([judge.ratio("", slow, fast, "here")], {"least": 1}, 0.10, 7)

    assert measured(0.95, 9).word == HOLDS
    assert measured(0.5, 9).word == NOT_SHOWN  # noisy
    assert measured(0.5, 900).word == HOLDS  # noisy, with many samples


def test_the_spread_is_that_of_the_faster_half():
    figure = {"median": 2.0, "minimum": 1.0, "runs": 16}
    found = judge.ratio("", figure, {**figure, "minimum": 2.0}, "here")
    assert (found.value, found.samples, found.spread) == (1, 16, pytest.approx(0.25))
    of_app = {"median_s": 3.0, "minimum_s": 3.0, "runs": 8}
    assert judge.over(judge.ratio("", of_app, figure, "here"), found).value == 1.5


def test_findings_without_the_premise_take_no_part():
    wrong = Finding("4 processors", 0.6, premise="4 processors cannot be in proportion")
    verdict = judge.judge([wrong, Finding("16 processors", 1.6)], {"least": 1}, 0.10, 7)
    assert verdict.word == HOLDS and "4 processors" in verdict.why
    alone = judge.judge([wrong], {"least": 1}, 0.10, 7)
    assert alone.word == NOT_SHOWN and alone.why == wrong.premise
    assert judge.judge([], {"least": 1}, 0.10, 7).word == NOT_SHOWN


def test_the_worst_finding_decides_unless_a_share_is_enough():
    findings = [Finding(str(value), value) for value in (2.0, 2.0, 1.0, 0.5)]
    worst = judge.judge(findings, {"least": 1}, 0.10, 7)
    assert worst.word == CONTRADICTED and "0.5" in worst.why
    half = judge.judge(findings, {"least": 1, "share": 0.5}, 0.10, 7)
    assert half.word == HOLDS and "2 of 4" in half.why
    assert judge.judge(findings, {"least": 1, "share": 0.75}, 0.10, 7).word == NOT_SHOWN


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.test], ids=lambda c: c.name)
def test_each_trial_could_have_another_result(claim):
    """Some value holds, and some contradicts the claim, or shows nothing."""
    numbers = [claim.expect[key] for key in ("is", "least", "most") if key in claim.expect]
    flat = [end for each in numbers for end in (each if isinstance(each, list) else [each])]
    values = [0.0, *(each * by for each in flat for by in (0.01, 0.5, 0.9, 1, 1.1, 2, 100))]
    words = {
        judge.judge(
            [Finding("", value, claim.samples)], claim.expect, claim.margin, claim.samples
        ).word
        for value in values
    }
    assert HOLDS in words and CONTRADICTED in words, claim


def test_each_claim_has_a_place_a_trial_or_a_reason_and_a_false_result():
    assert len(CLAIMS) == len({(claim.paper, claim.name) for claim in CLAIMS})
    for claim in CLAIMS:
        assert claim.paper in TITLES and claim.place
        assert claim.text.endswith(".") and claim.if_false.endswith("."), claim
        if claim.test:
            module = importlib.import_module(f"hocket.papers.{claim.paper.replace('-', '_')}")
            assert callable(getattr(module, claim.test)), claim


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('if_false="F."', "either `test` or `why`"),
        ('test="t"\nexpect={is=1}', "write `if_false`"),
        ('if_false="F."\ntest="t"', "needs `is`"),
        ('if_false="F."\ntest="t"\nexpect={is=1,about=2}', "has no field about"),
    ],
)
def test_an_incomplete_entry_is_refused(fields, message, tmp_path):
    path = tmp_path / "claims.toml"
    head = '[p]\ntitle="t"\nauthors="a"\n[p.claims.c]\nplace="s"\ntext="T."\n'
    path.write_text(head + fields + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"p\.c.*{message}"):
        model.load(path)


def tried(name, document, cores=64, **changes):
    """The verdict on a claim with a made-up document of its command."""
    (claim,) = (one for one in CLAIMS if f"{one.paper}.{one.name}" == name)
    bench = model.Bench()
    bench.cores = cores
    bench.bench = bench.app = lambda *words: document
    bench.simulated = lambda *words, kernels="": document
    return model.try_claim(claim, bench)


def curves(*gains, procs=(4, 16, 64)):
    found = [
        {"N": n, "processors": procs, "data over it": list(each)}
        for n, each in zip((64, 256), gains)
    ]
    return {"tables": [], "curves": found}


@pytest.mark.parametrize(
    ("claim", "gains", "word"),
    [
        ("fft-scale", ((0.8, 2.0, 4.0), (0.7, 1.3, 1.5)), HOLDS),
        ("fft-scale", ((0.8, 2.0, 4.0), (0.7, 0.95, 1.5)), NOT_SHOWN),
        ("fft-scale", ((0.8, 2.0, 4.0), (0.7, 0.8, 1.5)), CONTRADICTED),
        ("fft-scale-processors", ((0.8, 2.0, 4.0), (0.7, 1.0, 1.5)), HOLDS),
        ("fft-scale-processors", ((0.8, 2.0, 4.0), (1.9, 1.0, 1.5)), CONTRADICTED),
        ("fft-scale-sizes", ((1.8, 2.0, 4.0), (0.7, 1.0, 1.5)), HOLDS),
        ("fft-scale-sizes", ((1.8, 2.0, 1.2), (0.7, 1.0, 1.5)), CONTRADICTED),
        ("convolution-scale", ((0.8, 2.0, 4.0), (0.7, 0.5, 1.5)), HOLDS),
        ("convolution-scale", ((0.8, 2.0, 0.6), (0.7, 0.5, 1.5)), CONTRADICTED),
        ("convolution-significantly", ((0.8, 2.0, 4.0), (0.7, 0.5, 1.15)), NOT_SHOWN),
    ],
)
def test_a_simulated_gain_is_judged_at_each_point(claim, gains, word):
    assert tried(f"double-standards.{claim}", curves(*gains)).word == word


def test_multiblock_is_judged_with_processors_in_proportion_only():
    name = "double-standards.multiblock-scale"
    assert tried(name, curves((0.6, 1.5, 1.2))).word == HOLDS
    assert tried(name, curves((2.0, 1.5, 0.8))).word == CONTRADICTED
    only = tried(name, curves((2.0,), procs=(4,)))
    assert only.word == NOT_SHOWN and "2 : 1 : 1" in only.why


def remaps(times):
    """Seconds of both methods by processors and processors a process."""
    return {
        "tables": [
            {
                "parameters": {"processors": procs, "processors a process": each},
                "figures": [
                    {"name": name, "median": time}
                    for name, time in zip(("in place", "two-array"), both)
                ],
            }
            for (procs, each), both in times.items()
        ]
    }


PLACES = [(procs, each) for procs in (16, 32, 64, 128) for each in (1, 4, 16)]


def test_the_remap_over_nodes_is_judged_by_its_curve():
    falling = remaps({place: (1 / place[0], 1 / place[0]) for place in PLACES})
    rising = remaps({place: (place[0], 2 * place[0]) for place in PLACES})
    for name, word, other in (
        ("hybrid-scaling", HOLDS, CONTRADICTED),
        ("scaling-16", CONTRADICTED, HOLDS),
        ("dip", CONTRADICTED, HOLDS),
        ("close", HOLDS, CONTRADICTED),
        ("advice", NOT_SHOWN, NOT_SHOWN),
    ):
        assert tried(f"vacancy-tracking.{name}", falling).word == word, name
        assert tried(f"vacancy-tracking.{name}", rising).word == other, name
    for far, word in ((0.5, HOLDS), (2, CONTRADICTED)):
        times = {place: (far, 1) if place[1] == 16 else (1, 1) for place in PLACES}
        assert tried("vacancy-tracking.one-a-node", remaps(times)).word == word
        assert tried("vacancy-tracking.advice", remaps(times)).word == word


@pytest.mark.parametrize("name", ["hybrid-in-place", "threads-two-arrays", "scaling"])
def test_a_result_that_follows_from_the_simulation_is_no_trial(name):
    for ratio in (0.2, 1, 4.44):
        times = {place: (ratio, ratio) if place[1] == 1 else (1, 1) for place in PLACES}
        verdict = tried(f"vacancy-tracking.{name}", remaps(times))
        assert verdict.word == NOT_SHOWN and verdict.why.startswith("no trial") and verdict.ours


def teams(seconds, runs=100, minimum=1.0, most=1.0):
    """A benchmark of teams: nanoseconds of hocket and of MPI by operation."""
    return {
        "tables": [
            {
                "parameters": {"operation": name},
                "figures": [
                    {
                        "name": who,
                        "median": 1e-9 * each,
                        "minimum": 1e-9 * minimum * each,
                        "percentile_99": 1e-9 * most * each,
                        "runs": runs,
                    }
                    for who, each in zip(("hocket", "MPI", "MPI, with a barrier"), (a, b, b))
                ],
            }
            for name, (a, b) in seconds.items()
        ]
    }


@pytest.mark.parametrize(
    ("claim", "seconds", "word"),
    [
        ("barrier", {"wait": (300, 900)}, DIRECTION),  # 3 is not 15,800
        ("barrier", {"wait": (300, 2_000_000)}, FACTOR),
        ("barrier", {"wait": (300, 310)}, NOT_SHOWN),
        ("barrier", {"wait": (300, 200)}, CONTRADICTED),
        ("scan", {"scan_add": (300, 900)}, DIRECTION),
        ("gather", {"putget": (300, 1), "gather": (310, 1)}, CONTRADICTED),
        ("gather", {"putget": (300, 1), "gather": (960, 1)}, HOLDS),
        ("reductions", {"gather": (300, 1), "reduce_add": (300, 1)}, HOLDS),
        ("reductions", {"gather": (300, 1), "reduce_add": (600, 1)}, CONTRADICTED),
        ("broadcast", {"reduce_or": (300, 1), "bcast": (300, 1)}, HOLDS),
        ("broadcast", {"reduce_or": (300, 1), "bcast": (150, 1)}, CONTRADICTED),
    ],
)
def test_teams_are_judged_by_their_table(claim, seconds, word):
    assert tried(f"papers.{claim}", teams(seconds)).word == word


def test_teams_of_too_few_runs_or_cores_show_nothing():
    seconds = {"wait": (300, 900), "putget": (300, 1), "gather": (960, 1)}
    assert tried("papers.barrier", teams(seconds, runs=3)).word == NOT_SHOWN
    # at two processes a gather is one putget, by construction
    two = tried("papers.gather", teams(seconds), cores=2)
    assert two.word == NOT_SHOWN and "4 cores" in two.why
    assert tried("papers.barrier", teams(seconds, minimum=0.1, runs=9)).word == DIRECTION
    noisy = teams({"wait": (300, 360)}, minimum=0.5, runs=9)
    assert tried("papers.barrier", noisy).word == NOT_SHOWN


def test_an_operation_repeats_within_a_microsecond_or_not():
    assert tried("papers.steady", teams({"wait": (300, 1)}, most=2.0)).word == HOLDS
    assert tried("papers.steady", teams({"wait": (300, 1)}, most=9.0)).word == CONTRADICTED
    assert tried("papers.steady", teams({"wait": (300, 1)}, runs=50)).word == NOT_SHOWN


def linpack(*points):
    tables = [
        {
            "parameters": {"N": n, "processors": procs, "bandwidth": 1},
            "figures": [
                {"name": "lookahead", "median": gain},
                {"name": "flow", "median": 1.0},
            ],
        }
        for n, procs, gain in points
    ]
    return {"tables": tables}


def test_the_gain_of_a_flow_is_judged_on_512_processors(monkeypatch):
    kept = importlib.import_module("hocket.papers.kept")
    few = (16384, 16, 1.5)
    for gain, word, small in ((1.45, HOLDS, HOLDS), (1.02, NOT_SHOWN, NOT_SHOWN)):
        monkeypatch.setattr(kept, "report", lambda _, g=gain: linpack((131072, 512, g)))
        assert tried("mpi-smpss.gain-middle", linpack(few)).word == word
        assert tried("mpi-smpss.gain", linpack(few)).word == small
        assert tried("mpi-smpss.gain-large", linpack(few)).word == NOT_SHOWN
    of_512 = linpack((131072, 512, 1.5))
    hpl = {"name": "HPL", "median": 0.8}
    of_512["tables"][0]["figures"].append(hpl)
    monkeypatch.setattr(kept, "report", lambda _: of_512)
    for seconds, word in ((0.8, CONTRADICTED), (0.95, NOT_SHOWN), (1.3, HOLDS)):
        hpl["median"] = seconds
        assert tried("mpi-smpss.gain", linpack(few)).word == word
    monkeypatch.setattr(kept, "report", lambda _: None)
    alone = tried("mpi-smpss.gain", linpack(few))
    assert alone.word == NOT_SHOWN and "16 processors are not 512" in alone.why


def test_an_interpretation_of_equation_1_can_fail():
    def transfers(seconds):
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

    def equation(S, R, n):
        return 1e-4 * max(S, R) + 1e-6 * n * n / ((S + R) / 2)

    found = transfers(equation)
    others = transfers(lambda S, R, n: equation(S, R, n) * (1 if S == R else 4))
    off = transfers(lambda S, R, n: equation(S, R, n) * (1 if S == R else 1.4))
    for name in ("prediction-8-4", "prediction-4-2"):
        assert tried(f"data-transfer-library.{name}", found).word == HOLDS
        assert tried(f"data-transfer-library.{name}", off).word == FACTOR
        assert tried(f"data-transfer-library.{name}", others).word == CONTRADICTED
    flat = transfers(lambda S, R, n: S * equation(8, 8, n))
    assert tried("data-transfer-library.sizes-large", found).word == HOLDS
    assert tried("data-transfer-library.sizes-large", flat).word == CONTRADICTED


def equation_1(words, first=1e-6, runs=9, off=1.0):
    """Figure 4 of transfers that follow equation 1."""
    names = ("generic, per element", "optimised", "prepared")
    costs = dict(zip(names, ((first, words[0]), (1e-6, words[1]), (1e-6, words[2]))))
    fits = {name: {"M": 8, "t_m": t_m, "t_w": 1e-9 * t_w} for name, (t_m, t_w) in costs.items()}
    tables = [
        {
            "parameters": {"N": n, "S": 1, "R": 1},
            "figures": [
                {"name": name, "median": time, "minimum": time, "runs": runs}
                for name, fit in fits.items()
                for time in [off * (8 * fit["t_m"] + fit["t_w"] * n * n)]
            ],
        }
        for n in (16, 256)
    ]
    return {"fits": fits, "tables": tables}


@pytest.mark.parametrize(
    ("words", "generic", "prepared"),
    [
        ((19.0, 2.8, 1.8), HOLDS, HOLDS),
        ((10.0, 2.8, 1.8), FACTOR, HOLDS),
        ((5.6, 2.8, 0.4), DIRECTION, DIRECTION),
        ((2.8, 2.8, 2.8), NOT_SHOWN, NOT_SHOWN),
        ((1.0, 2.8, 5.6), CONTRADICTED, CONTRADICTED),
    ],
)
def test_costs_of_words_are_judged_by_their_ratios(words, generic, prepared):
    paper = "data-transfer-library"
    assert tried(f"{paper}.generic", equation_1(words)).word == generic
    assert tried(f"{paper}.prepared", equation_1(words)).word == prepared
    assert tried(f"{paper}.generic", equation_1(words, runs=3)).word == NOT_SHOWN


def test_the_fit_and_the_costs_of_messages_can_fail():
    paper, words = "data-transfer-library", (19.0, 2.8, 1.8)
    assert tried(f"{paper}.fit", equation_1(words)).word == HOLDS
    assert tried(f"{paper}.fit", equation_1(words, off=2.0)).word == CONTRADICTED
    assert tried(f"{paper}.startups", equation_1(words, 1.4e-6)).word == HOLDS
    assert tried(f"{paper}.startups", equation_1(words, 1.8e-6)).word == FACTOR
    assert tried(f"{paper}.startups", equation_1(words, 1e-5)).word == CONTRADICTED


def schedules(more=1.0, chunks=1.0, gain=1.0, runs=9):
    """Tables of permutations. more: of twice as many threads as cores; chunks: of single cycles;
    gain: of float64 over float32."""
    return {
        "tables": [
            {
                "parameters": {"threads": count, "shape": shape, "dtype": dtype},
                "figures": [
                    {"name": name, "median": of, "minimum": of, "runs": runs}
                    for name, time in (
                        ("in place, static", 1.0),
                        ("in place, affinity", 1.0),
                        ("in place, dynamic,1", chunks),
                        ("two arrays, copied back", gain if dtype == "float64" else 1.0),
                        ("hocket in place, cycles", 1.0),
                    )
                    for of in [time * {1: 1.8, 2: 1, 4: more}[count]]
                ],
            }
            for shape in ([128, 512, 64], [256, 1024, 16])
            for dtype in ("float32", "float64")
            for count in (1, 2, 4)
        ]
    }


@pytest.mark.parametrize(
    ("claim", "changes", "word"),
    [
        ("more-threads", {"more": 1.0}, HOLDS),
        ("more-threads", {"more": 0.5}, CONTRADICTED),
        ("more-threads-in-place", {"more": 2.7}, HOLDS),
        ("more-threads-in-place", {"more": 1.3}, DIRECTION),
        ("more-threads-in-place", {"more": 1.05}, NOT_SHOWN),
        ("more-threads-in-place", {"more": 0.5}, CONTRADICTED),
        ("speedup", {}, HOLDS),
        ("speedup", {"runs": 3}, NOT_SHOWN),
        ("real8", {"gain": 1.5}, HOLDS),
        ("real8", {"gain": 1.05}, NOT_SHOWN),
        ("real8", {"gain": 0.6}, CONTRADICTED),
    ],
)
def test_threads_and_widths_are_judged_by_their_tables(claim, changes, word):
    assert tried(f"vacancy-tracking.{claim}", schedules(**changes), cores=2).word == word


@pytest.mark.parametrize(
    ("chunks", "word"),
    [(1.9, HOLDS), (1.4, FACTOR), (5.0, DIRECTION), (1.1, NOT_SHOWN), (0.5, CONTRADICTED)],
)
def test_small_chunks_are_judged_beside_affinity(chunks, word):
    found = schedules(more=1.0, chunks=chunks)
    assert tried("vacancy-tracking.small-chunks", found).word == word


def test_a_simulation_that_did_not_run_is_no_verdict(monkeypatch):
    missing = {"tables": [{"figures": [{"name": "data", "not_run": "there is no smpirun"}]}]}
    (claim,) = (one for one in CLAIMS if one.name == "convolution-scale")
    bench = model.Bench()
    monkeypatch.setattr(bench, "bench", lambda *words: missing)
    verdict = model.try_claim(claim, bench)
    assert verdict.word == NOT_SHOWN and "there is no smpirun" in verdict.why


def test_a_command_that_cannot_run_is_no_verdict(monkeypatch):
    (claim,) = (one for one in CLAIMS if one.name == "model-size")
    monkeypatch.setattr(model.sys, "executable", "/bin/false")
    verdict = model.try_claim(claim, model.Bench())
    assert verdict.word == NOT_SHOWN and "hocket app pingpong" in verdict.why


def test_the_rows_of_strace_are_added_up():
    counted = importlib.import_module("hocket.papers.system_calls")
    rows = (
        "% time     seconds  usecs/call     calls    errors syscall",
        "------ ----------- ----------- --------- --------- ----------------",
        " 69.30    0.186715        1905        98           epoll_wait",
        " 20.41    0.054980           9      6064         2 read",
        "100.00    0.241695        1914      6162         2 total",
    )
    assert counted.total_of("\n".join(rows)) == 6162


def test_a_stored_run_is_judged_again_by_its_findings(monkeypatch):
    """Findings are stored as they are; without them there is no verdict."""
    kept = importlib.import_module("hocket.papers.kept")
    (claim,) = (one for one in CLAIMS if one.name == "real8")
    name = {"paper": claim.paper, "claim": claim.name}

    def recalled(entry):
        monkeypatch.setattr(kept, "report", lambda _: {"claims": [{**name, **entry}]})
        return kept.recall(claim)

    for value, word in ((1.5, HOLDS), (1.05, NOT_SHOWN), (0.5, CONTRADICTED)):
        stored = dataclasses.asdict(Finding("", value, samples=9, source="here"))
        verdict = recalled({"verdict": "anything", "findings": [stored]})
        assert verdict.word == word and verdict.source == "here"
    assert recalled({"findings": []}) is None
    monkeypatch.setattr(kept, "report", lambda _: None)
    assert kept.recall(claim) is None

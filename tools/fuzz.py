# SPDX-License-Identifier: BSD-3-Clause
"""Damaged texts for the parsers of layouts and of stores, for a fixed time; a part of `make soak`.

With clang's libFuzzer, which searches for new branches, under the address and undefined-behaviour
sanitizers; without it, by the C++ tests' own mutator. Either prints its seed.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
from pathlib import Path

import build
import environment
from messages import ROOT, run, say
from report import Report

SANITIZERS = "-fsanitize=fuzzer,address,undefined"
SECONDS = int(os.environ.get("HOCKET_FUZZ_SECONDS", "120"))

#: The inputs to damage: the parser (see fuzz_layouts.cpp) and a valid text.
SEEDS = [
    (0, "(12, 12) (BLOCK, CYCLIC(3)) @ (4, 2)"),
    (0, "(12) (*) @ (3 COPIES)"),
    (0, "(3, 4) A(i, j) WITH T(2*j+1, -i+3, *[0:9:3]) OF (9, 4, 10) (BLOCK, CYCLIC, *) @ (2, 2)"),
    (0, "(6) (BLOCK) @ (3) AS (2, 0, 4) OF 5"),
    (0, "(10, 10) INDEXED [0+5, 10+3 | 20+7 | ]"),
    (1, "(block, Cyclic( 3 ), *)"),
    (1, "(BLOCK(14), CYCLIC, *)"),
    (2, "!HPF$ ALIGN A(i, *, k) WITH T(2*(i+1)-1, 7, k*2)"),
    (2, "A(:, j, *) WITH T(1:9:2, -(j - 3), *)"),
    (3, "!HPF$ processors p(2, n/2)\nreal, dimension(n, 0:m) :: a, b(4)\n!HPF$ template t(2*n, m)\n"
        "!HPF$ distribute t(BLOCK, CYCLIC(2)) onto p\n!HPF$ align a(i, j) with t(2*i, j+1)\nend\n"),
    (3, "      integer, parameter :: k = 4\n      real*8 b(0:k-1), c(n)\nCHPF$ processors q(2)\n"
        "CHPF$ distribute (BLOCK) onto q :: b\n!HPF$ align (:) with b(*) &\n!HPF$& :: c\n"),
]  # fmt: skip
WORDS = (
    "BLOCK CYCLIC COPIES AS OF WITH INDEXED ALIGN DISTRIBUTE ONTO PROCESSORS TEMPLATE PARAMETER "
    "!HPF$ CHPF$ DIMENSION real integer end :: @ * [0:9:3] 9223372036854775807 -9223372036854775808"
)


#: Of stores: see fuzz_stores.cpp.
STORES = [
    (0, '{"zarr_format":3,"node_type":"array","shape":[8,6],"data_type":"float32","chunk_grid":'
        '{"name":"regular","configuration":{"chunk_shape":[4,6]}},"chunk_key_encoding":{"name":'
        '"default"},"fill_value":"NaN","codecs":[{"name":"sharding_indexed","configuration":'
        '{"chunk_shape":[2,3],"codecs":[{"name":"transpose","configuration":{"order":[1,0]}},'
        '{"name":"bytes","configuration":{"endian":"big"}},"crc32c"],"index_codecs":[{"name":'
        '"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],"index_location":"end"}}]'
        ',"attributes":{"a":1},"dimension_names":["y",null]}'),
    (0, '{"zarr_format":3,"node_type":"group","attributes":{},"consolidated_metadata":{"kind":'
        '"inline","metadata":{"t":{}}}}'),
    (1, '{"zarr_format":2,"shape":[4,6],"chunks":[2,3],"dtype":">c8","compressor":{"id":"zlib",'
        '"level":1},"fill_value":[1,"NaN"],"order":"F","filters":null,"dimension_separator":"/"}'),
    (2, "0123456789abcdef" * 4),
    (3, "(\\xb5/\\xfd"),
    (4, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"),
]  # fmt: skip
PORTS = [
    # a hello of a connector, an observer, and a process that answers a route
    (0, "HKT1\x4c\0\0\0\x05\0\0\0\x02\0" + 16 * "i" + "\x03\0\0\0run\x03\0\0\0two"
        "\x04" + 7 * "\0" + "\x01" + 7 * "\0" + 16 * "s" + 6 * "\0" + "N@"),
    (0, "HKT1\x49\0\0\0\x05\0\0\0\x03\0" + 16 * "i" + "\x03\0\0\0run" + 4 * "\0"
        "\x01" + 15 * "\0" + 24 * "\0"),
    (1, 8 * "\x01" + "\x01\0\0\0t\x01\0\0\0" + 25 * "\x02" + "\x01"),
    (2, 8 * "\x01" + "\x01\0\0\0t\x02" + 8 * "\x02"),
    (3, 8 * "\x01" + "\x01\0\0\0\x01\0\0\0t\x03\0\0\0<f8\x08" + 7 * "\0" + "\x01\0\0\0\x05"
        + 7 * "\0" + "\x01\0\0\0\x01\0\0\0v\x01" + 8 * "\x02"),
    (4, 16 * "\x01" + "\x07\0\0\0(3) (*)" + "\x01\0\0\0" + 8 * "\0" + "\x18" + 7 * "\0"),
    (5, "HKR1" + 16 * "s" + "\x01\0\0\0"),
    (6, "\x31\0\0\0" + 20 * "\0" + "\x01" + 11 * "\0" + "\x08" + 7 * "\0" + "\x01\x01" + 7 * "\0"
        + "\x11\0\0\0" + 17 * "\0" + "\x18\0\0\0" + 24 * "\0"),
    (8, "\x31\0\0\0" + 20 * "\0" + "\x01" + 11 * "\0" + "\x08" + 7 * "\0" + "\x01\x01" + 7 * "\0"
        + "\x11\0\0\0" + 17 * "\0" + "\x18\0\0\0" + 24 * "\0"),
    (7, "hocket port 1\nname t\nprocess 7\nstart 9\nsocket /tmp/x\naddress a:1\n"),
]  # fmt: skip
FUZZERS = {
    "fuzz_layouts": (("base", "layout"), SEEDS),
    "fuzz_stores": (("base", "layout", "kernel", "zarr"), STORES),
    "fuzz_ports": (("base", "layout", "kernel", "net"), PORTS),
}


def has_fuzzer(clang: str, folder: Path) -> bool:
    """Whether this clang has libFuzzer."""
    probe = folder / "probe.cpp"
    probe.write_text('extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }\n')
    try:
        run([clang, SANITIZERS, probe, "-o", folder / "probe"], log=folder / "probe.log")
    except SystemExit:
        return False
    return True


def program(name: str) -> Path | None:
    """A fuzzer, built from the sources of its rooms; None if clang has no libFuzzer."""
    clang = next(filter(None, map(shutil.which, ("clang++", "clang++-19", "clang++-14"))), None)
    folder = build.folder_of("fuzz")
    folder.mkdir(parents=True, exist_ok=True)
    if clang is None or not has_fuzzer(clang, folder):
        return None
    rooms = FUZZERS[name][0]
    sources = [path for room in rooms for path in sorted(ROOT.glob(f"src/{room}/**/*.cpp"))]
    sources.append(ROOT / f"tests/fuzz/{name}.cpp")
    headers = [path for room in rooms for path in ROOT.glob(f"src/{room}/**/*.hpp")]
    inputs = [*sources, *headers, *ROOT.glob("include/hocket/*.hpp")]
    made = folder / name
    newest = max(path.stat().st_mtime for path in inputs)
    if not made.is_file() or made.stat().st_mtime < newest:
        say(f"building build/fuzz/{name}")
        options = ["-std=c++20", "-O1", "-g", SANITIZERS, "-fno-sanitize-recover=undefined"]
        includes = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-pthread"]
        libraries = []
        if "zarr" in rooms:
            options += ["-DHOCKET_JSON=1", "-DHOCKET_ZSTD=1", "-DHOCKET_ZLIB=1", "-DHOCKET_BLOSC=1"]
            libraries = ["-lzstd", "-lz", "-lblosc"]
        command = [clang, *options, *includes, *sources, "-o", made, *libraries]
        run(command, log=folder / f"build-{name}.log")
    return made


def fuzz(report: Report) -> None:
    """Runs it; a finding is a failure, and its text is kept in build/fuzz."""
    seed = int(os.environ.get("HOCKET_SEED") or random.randrange(1, 2**31))
    with environment.locked("fuzz"):
        made = {name: program(name) for name in FUZZERS}
    for name, path in made.items():
        if path is not None:
            by_libfuzzer(report, name, path, seed)
    if made["fuzz_layouts"] is None:
        rounds = str(SECONDS * 5000)
        unit = build.folder_of("common") / "tests" / "unit_layout"
        if not unit.is_file():
            report.absent.append("fuzzing, which needs clang (Debian's clang) or GoogleTest")
            return
        title = f"parsers, {rounds} texts by our own mutator (no libFuzzer here), seed {seed}"
        variables = [f"HOCKET_FUZZ={rounds}", f"HOCKET_SEED={seed}"]
        report.run(title, ["env", *variables, str(unit), "--gtest_filter=Fuzz.*"])


def by_libfuzzer(report: Report, name: str, made: Path, seed: int) -> None:
    """One fuzzer, for its share of the time."""
    folder = made.parent
    corpus = folder / f"corpus-{name}"
    corpus.mkdir(exist_ok=True)
    for number, (parser, text) in enumerate(FUZZERS[name][1]):
        (corpus / f"seed{number}").write_bytes(bytes([parser]) + text.encode())
    words = "\n".join('"' + word.replace("\\", "\\\\") + '"' for word in WORDS.split())
    (folder / "words.dict").write_text(words + "\n", encoding="utf-8")
    seconds = SECONDS // len(FUZZERS)
    command = [str(made), f"-max_total_time={seconds}", f"-seed={seed}", "-max_len=1200"]
    command += ["-timeout=10", "-rss_limit_mb=4096", f"-dict={folder / 'words.dict'}"]
    command += ["-print_final_stats=1", f"-artifact_prefix={folder}/", str(corpus)]
    log = folder / f"{name}.log"  # its output is long; shown are a finding, or the totals
    words_of = " ".join(map(shlex.quote, command))
    shown = f"{words_of} > {log} 2>&1 && grep stat:: {log} || {{ tail -60 {log}; exit 1; }}"
    report.run(f"{name}, {seconds} s by libFuzzer, seed {seed}", ["sh", "-c", shown])

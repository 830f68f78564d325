# SPDX-License-Identifier: BSD-3-Clause
"""The codecs as they are built where their libraries are not."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include <cstdio>
#include "hocket/error.hpp"
#include "zarr/codec.hpp"
using namespace hocket::zarr;
template <class Call> void attempt(Call&& call) {
    try {
        call();
        std::puts("nothing");
    } catch (const hocket::Error& error) {
        std::puts(error.what());
    }
}
int main() {
    for (const char* name : {"zstd", "gzip", "blosc"}) {
        const Codec codec = Codec::named(name);
        attempt([&] { codec.require(false); });
        attempt([&] { static_cast<void>(decode(std::span(&codec, 1), Bytes(3), 24)); });
    }
    const Codec zstd = Codec::named("zstd");
    attempt([&] { static_cast<void>(encode(std::span(&zstd, 1), Bytes(3))); });
}
"""


@pytest.mark.soak
def test_a_codec_without_its_library_says_how_to_get_it(tmp_path):
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    if shutil.which(compiler[0]) is None:
        pytest.skip("needs a compiler")
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "program"
    sources = [source, *(ROOT / "src" / name for name in ("zarr/codec.cpp", "zarr/crc32c.cpp"))]
    sources += [ROOT / "src/base/text.cpp"]
    includes = [f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}"]
    subprocess.run([*compiler, "-std=c++20", *includes, *sources, "-o", program], check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 7
    for line, library in zip(
        told, ["libzstd"] * 2 + ["zlib1g"] * 2 + ["libblosc"] * 2 + ["libzstd"]
    ):
        assert f"hocket was built without {library}" in line and f"{library}-dev" in line

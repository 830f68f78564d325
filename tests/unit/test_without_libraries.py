# SPDX-License-Identifier: BSD-3-Clause
"""Stores and ports as they are built where the libraries of JSON, of codecs and of TLS are not."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
#: tells each call's error
ATTEMPT = """
#include <cstdio>
#include "hocket/error.hpp"
template <class Call> void attempt(Call&& call) {
    try {
        call();
        std::puts("nothing");
    } catch (const hocket::Error& error) {
        std::puts(error.what());
    }
}
"""
CODECS = """
#include "zarr/codec.hpp"
using namespace hocket::zarr;
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
KEYS = """
#include "net/stream.hpp"
using namespace hocket::net;
int main() {
    attempt([] { require_tls(); });
    attempt([] { static_cast<void>(Key::read("run.key")); });
    attempt([] { static_cast<void>(tls_server(Descriptor(), nullptr)); });
    attempt([] { static_cast<void>(tls_client(Descriptor(), nullptr, Right::read)); });
}
"""


def errors_of(program, sources, folder):
    """The lines that a program prints which is compiled with these sources, and no library."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    if shutil.which(compiler[0]) is None:
        pytest.skip("needs a compiler")
    source = folder / "program.cpp"
    source.write_text(ATTEMPT + program, encoding="utf-8")
    flags = ["-std=c++20", "-pthread", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}"]
    made = folder / "program"
    subprocess.run([*compiler, *flags, source, *sources, "-o", made], check=True)
    return subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.soak
def test_a_codec_without_its_library_says_how_to_get_it(tmp_path):
    names = ("zarr/codec.cpp", "zarr/crc32c.cpp", "base/text.cpp")
    told = errors_of(CODECS, [ROOT / "src" / name for name in names], tmp_path)
    assert len(told) == 7
    for line, library in zip(
        told, ["libzstd"] * 2 + ["zlib1g"] * 2 + ["libblosc"] * 2 + ["libzstd"]
    ):
        assert f"hocket was built without {library}" in line and f"{library}-dev" in line


@pytest.mark.soak
def test_a_key_without_openssl_says_how_to_get_it(tmp_path):
    """`open_port` and `connect` ask the same before they listen or dial with a key."""
    names = ("net/key.cpp", "net/secret.cpp", "net/tls.cpp", "net/stream.cpp", "net/descriptor.cpp")
    sources = [*(ROOT / "src" / name for name in names), *ROOT.glob("src/base/*.cpp")]
    told = errors_of(KEYS, sources, tmp_path)
    assert len(told) == 4
    assert all("a key needs OpenSSL 3" in line and "libssl-dev" in line for line in told)


OPENS = """
#include <cstdio>
#include "hocket/error.hpp"
#include "hocket/store_files.hpp"
#include "zarr/metadata.hpp"
int main(int, char** words) {
    for (int k = 1; words[k] != nullptr; ++k) try {
            const hocket::StoreFiles files(words[k]);
            std::printf("opened %zu\\n", files.names().size());
        } catch (const hocket::Error& error) {
            std::puts(error.what());
        }
}
"""


@pytest.mark.soak
def test_a_build_without_json_says_how_to_get_it(tmp_path):
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    core = next(iter(sorted(ROOT.glob("build/*/src/libhocket_core.so"))), None)
    if shutil.which(compiler[0]) is None or core is None:
        pytest.skip("needs a compiler, and a build of the other rooms")
    source = tmp_path / "program.cpp"
    source.write_text(OPENS, encoding="utf-8")
    flags = ["-std=c++20", "-O0", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}"]
    objects = []
    for each in [source, *sorted(ROOT.glob("src/zarr/*.cpp"))]:
        objects.append(tmp_path / f"{each.stem}.o")
        subprocess.run([*compiler, *flags, "-c", each, "-o", objects[-1]], check=True)
    program = tmp_path / "program"
    rest = [core, f"-Wl,-rpath,{core.parent}"]
    subprocess.run([*compiler, *objects, *rest, "-o", program], check=True)
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text("{}", encoding="utf-8")
    np.save(tmp_path / "a.npy", np.zeros(3))
    paths = [tmp_path / "a.zarr", tmp_path / "a.npy", tmp_path / "a.h5"]
    (tmp_path / "a.h5").write_bytes(b"")
    env = {**os.environ, "HOCKET_HDF5": "none"}
    told = subprocess.run(
        [program, *paths], env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(told) == 3, told
    assert "nlohmann-json3-dev" in told[0] and "nlohmann-json3-dev" in told[1]
    assert "finds no HDF5" in told[2]

# SPDX-License-Identifier: BSD-3-Clause
"""Ports as they are built where OpenSSL is not."""

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
#include "net/stream.hpp"
using namespace hocket::net;
template <class Call> void attempt(Call&& call) {
    try {
        call();
        std::puts("nothing");
    } catch (const hocket::Error& error) {
        std::puts(error.what());
    }
}
int main() {
    attempt([] { require_tls(); });
    attempt([] { static_cast<void>(Key::read("run.key")); });
    attempt([] { static_cast<void>(tls_server(Descriptor(), nullptr)); });
    attempt([] { static_cast<void>(tls_client(Descriptor(), nullptr, Right::read)); });
}
"""


@pytest.mark.soak
def test_a_key_without_openssl_says_how_to_get_it(tmp_path):
    """`open_port` and `connect` ask the same before they listen or dial with a key."""
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    if shutil.which(compiler[0]) is None:
        pytest.skip("needs a compiler")
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM, encoding="utf-8")
    program = tmp_path / "program"
    names = ("net/key.cpp", "net/secret.cpp", "net/tls.cpp", "net/stream.cpp", "net/descriptor.cpp")
    sources = [source, *(ROOT / "src" / name for name in names), *ROOT.glob("src/base/*.cpp")]
    includes = [f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", "-pthread"]
    subprocess.run([*compiler, "-std=c++20", *includes, *sources, "-o", program], check=True)
    told = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 4
    assert all("a key needs OpenSSL 3" in line and "libssl-dev" in line for line in told)

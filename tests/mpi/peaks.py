# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a call takes while it runs."""

import gc
import re
from pathlib import Path

import pytest

MIB = 1 << 20


def peak_of(call):
    """(what `call` gives, bytes by which this process's resident memory has peaked meanwhile)."""

    def status(key):
        text = Path("/proc/self/status").read_text("ascii")
        found = re.search(rf"^{key}:\s+(\d+) kB$", text, re.MULTILINE)
        assert found is not None
        return 1024 * int(found[1])

    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak begins again from here
    except OSError as error:
        pytest.skip(f"the peak of resident memory cannot be reset here: {error}")
    gc.collect()  # what others left behind is not to be freed meanwhile
    before = status("VmRSS")
    result = call()
    return result, status("VmHWM") - before

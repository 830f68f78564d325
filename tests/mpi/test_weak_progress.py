# SPDX-License-Identifier: BSD-3-Clause
"""Messages that MPI has taken leave while their sender waits for shared memory alone."""

import os
import subprocess
import sys
from pathlib import Path

from lockstep import mpiexec

# Process 1 sends its element to process 3 by MPI, which first makes a connection. Meanwhile it
# waits for process 0, of its own node.
PROGRAM = """
import hocket as hk
a = hk.from_function(lambda i: i, hk.Layout((8,), "(BLOCK)", 4))
b = hk.redistribute(a, hk.Layout((8,), "(CYCLIC)", 4), timeout=60)
assert (b.local == b.layout.global_indices(b.comm.rank)[0]).all()
hk.Team().wait()
"""


def test_a_message_leaves_while_its_sender_waits_in_shared_memory(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    env = mpiexec.environment(os.environ, str(tmp_path), 4, "0,0,1,1")
    # Every message takes the network's way, as between hosts.
    env |= {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "OMPI_MCA_btl": "tcp,self"}
    env["OMPI_MCA_btl_tcp_if_include"] = "lo"
    job = [mpiexec.find(), "-n", "4", sys.executable, str(program)]
    done = subprocess.run(job, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

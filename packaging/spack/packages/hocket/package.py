# SPDX-License-Identifier: BSD-3-Clause
"""For Spack, from this checkout: spack repo add packaging/spack; spack install hocket ^mpich"""

from pathlib import Path

from spack.package import *


class Hocket(CMakePackage):
    """Moves distributed arrays between parallel tasks, and keeps everyone computing while they
    move: C++, C and Fortran. (With Python: pip install, in an environment that has py-mpi4py.)"""

    git = str(Path(__file__).resolve().parents[4])

    license("BSD-3-Clause", checked_by="hocket")

    version("main", branch="main")

    variant("mpi", default=True, description="what communicates; else layouts, plans and kernels")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    # It writes the Fortran module's sources.
    depends_on("python@3.9:", type="build", when="+mpi")
    depends_on("mpi@3:", when="+mpi")

    conflicts("%gcc@:11", msg="hocket is C++20, of which GCC knows enough from 12 on")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("HOCKET_MPI", "mpi"),
            self.define("HOCKET_PYTHON", False),
            self.define("HOCKET_TESTS", False),
        ]
        if self.spec.satisfies("+mpi"):
            arguments.append(self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc))
        return arguments

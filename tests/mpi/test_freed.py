# SPDX-License-Identifier: BSD-3-Clause
"""A communicator that the program frees while its arrays are still in use."""

import numpy as np
from cases import raises_everywhere
from lockstep import ranks

import hocket as hk


@ranks(1, 2)
def test_a_communicator_freed_before_its_first_collective_call(comm):
    fresh = comm.Dup()
    a = hk.zeros(hk.Layout((8, 8), "(BLOCK, *)", comm.size), comm=fresh)
    halo = a.halo(1)
    fresh.Free()
    raises_everywhere(comm, hk.Error, halo.exchange, "was freed")
    onto = hk.Layout((8, 8), "(CYCLIC, *)", comm.size)
    raises_everywhere(comm, hk.Error, lambda: hk.redistribute(a, onto), "was freed")
    raises_everywhere(comm, hk.Error, lambda: hk.Team(fresh), "was freed")
    for compute in (hk.replicated, np.sum, np.unique) if comm.size > 1 else (hk.replicated,):
        raises_everywhere(comm, hk.Error, lambda use=compute: use(a), "was freed")


@ranks(2)
def test_a_communicator_freed_after_it(comm):
    fresh = comm.Dup()
    a = hk.zeros(hk.Layout((8, 8), "(BLOCK, *)", comm.size), comm=fresh)
    team, halo = hk.Team(fresh), a.halo(1)
    tasks = hk.tasks({"a": 1, "b": 1}, fresh)
    fresh.Free()
    halo.exchange()
    assert team.reduce_add(1) == comm.size
    a.gather()
    b = hk.zeros(hk.Layout(8, "(BLOCK)", 1), comm=tasks.comm)
    tasks.send(b, "b") if tasks.name == "a" else tasks.recv(b)
    # hocket's own, which it will not free another time.
    tasks.comm.Free()
    raises_everywhere(comm, hk.Error, lambda: hk.zeros(b.layout, comm=tasks.comm), "was freed")
    tasks.barrier()

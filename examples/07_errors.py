# SPDX-License-Identifier: BSD-3-Clause
"""Two tasks disagree about the element type: both raise the error, and nothing has moved.

Run me: python 07_errors.py
"""

import hocket as hk


def program(world):
    layout = hk.Layout((8, 8), "(BLOCK, *)", 1)
    a = hk.zeros(layout, "float64" if world.name == "left" else "float32", comm=world.comm)
    try:
        if world.name == "left":
            world.send(a, "right", tag=7)
        else:
            world.recv(a, "left", tag=7)
    except hk.MismatchError as error:
        return str(error)
    return "no error"


for name, (message,) in hk.run(program, tasks={"left": 1, "right": 1}).items():
    print(f"{name}: {message}")

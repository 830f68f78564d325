# SPDX-License-Identifier: BSD-3-Clause
"""Computing on distributed arrays: NumPy's functions, each of which finds its layouts by rules.

`layouts` has the rules for layouts, `operands` brings each operand to them, and `collecting` moves
what has no layout of its own. All else is built of these three and `hocket.redistribute`.
"""

# SPDX-License-Identifier: BSD-3-Clause
"""Computing on distributed arrays: NumPy's functions, with layouts by rules.

`layouts` has the rules for layouts, `operands` brings each operand to them, and `collecting` moves
data without a layout. All other modules use these three and `hocket.redistribute`.
"""

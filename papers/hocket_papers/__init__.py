# SPDX-License-Identifier: BSD-3-Clause
"""What the papers claim, and how it is tried here: a file for each paper."""

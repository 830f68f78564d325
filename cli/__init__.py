# SPDX-License-Identifier: BSD-3-Clause
"""The command `hocket`: one file a command."""

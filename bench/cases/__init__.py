# SPDX-License-Identifier: BSD-3-Clause
"""One module a benchmark; the module's name is the benchmark's."""

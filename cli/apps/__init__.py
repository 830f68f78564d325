# SPDX-License-Identifier: BSD-3-Clause
"""The papers' programs for `hocket app`: their options, their input, their checks. The programs
themselves are C++, in the folder `apps` of the sources."""

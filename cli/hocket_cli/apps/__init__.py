# SPDX-License-Identifier: BSD-3-Clause
"""The papers' programs as `hocket app` shows them: their options, their input, their checks. The
programs themselves are C++, in the folder `apps` of the sources."""

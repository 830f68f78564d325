# SPDX-License-Identifier: BSD-3-Clause
"""``python -m hocket.bench NAME``: the same as ``hocket bench NAME``."""

from __future__ import annotations

import sys

from . import main

sys.exit(main())

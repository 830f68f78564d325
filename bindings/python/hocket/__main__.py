# SPDX-License-Identifier: BSD-3-Clause
"""`python -m hocket` runs the command `hocket`."""

import sys

from hocket.cli.main import main

sys.exit(main())

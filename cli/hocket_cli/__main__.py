# SPDX-License-Identifier: BSD-3-Clause
"""`python -m hocket_cli` is `hocket`."""

import sys

from hocket_cli.main import main

sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""`python -m hocket` is the command `hocket`, which comes with the package."""

import sys

from hocket_cli.main import main

sys.exit(main())

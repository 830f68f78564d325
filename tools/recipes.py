# SPDX-License-Identifier: BSD-3-Clause
"""Parses the conda recipe as rattler-build does, which refuses unknown keys, expressions and
requirements, and renders it for every MPI of its configuration. Needs `py-rattler-build`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from rattler_build import (  # type: ignore[import-not-found, unused-ignore]
    PlatformConfig,
    RenderConfig,
    Stage0Recipe,
    VariantConfig,
)

FOLDER = Path(__file__).resolve().parents[1] / "packaging/conda"
PYTHONS = ("3.10", "3.12")  # with and without a TOML reader


def main() -> None:
    """Prints the variants; ends with an error if some are missing."""
    recipe = Stage0Recipe.from_file(FOLDER / "recipe.yaml")
    mpis = re.findall(
        r"^  - (\w+)$", (FOLDER / "conda_build_config.yaml").read_text("utf-8"), re.MULTILINE
    )
    variants = VariantConfig({"mpi": mpis, "python": list(PYTHONS)})
    config = RenderConfig(platform=PlatformConfig(target_platform="linux-64"))
    made = recipe.render(variants, config)
    if len(made) != len(mpis) * len(PYTHONS):
        sys.exit(f"recipe.yaml: {len(made)} variants of {mpis} and Python {PYTHONS}")
    for variant in made:
        package = variant.recipe.package
        print(package.name, package.version)


if __name__ == "__main__":
    main()

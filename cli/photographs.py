# SPDX-License-Identifier: BSD-3-Clause
"""A stream of grey, square photographs: those that scikit-image ships, or the user's own."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from hocket.errors import Error

#: photographs among scikit-image's data files, which lie inside the installed package
SHIPPED = (
    "camera.png",
    "astronaut.png",
    "coffee.png",
    "chelsea.png",
    "rocket.jpg",
    "retina.jpg",
    "moon.png",
    "hubble_deep_field.jpg",
    "motorcycle_left.png",
    "coins.png",
    "gravel.png",
    "brick.png",
)
#: suffixes of image files
ENDINGS = frozenset((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".pgm"))

Grey = npt.NDArray[np.uint8]


def find(folder: str | None) -> list[Path]:
    """The image files to use, sorted: of the user's folder, or those that scikit-image ships.

    Raises:
        Error: no such folder, no image in it, or no scikit-image.
    """
    if folder is None:
        return _shipped()
    path = Path(folder)
    if not path.exists():
        raise Error(f"--images {folder}: there is no such directory; name one that holds images")
    if not path.is_dir():
        raise Error(f"--images {folder} is a file; name the directory that holds it")
    try:
        entries = sorted(entry for entry in path.iterdir() if entry.is_file())
    except OSError as problem:
        raise Error(f"--images {folder} cannot be read: {problem.strerror}") from problem
    images = [entry for entry in entries if entry.suffix.lower() in ENDINGS]
    if not images:
        raise Error(
            f"--images {folder} holds no image: of its {len(entries)} files none ends in "
            + ", ".join(sorted(ENDINGS))
        )
    return images


def _shipped() -> list[Path]:
    found = importlib.util.find_spec("skimage")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    for place in places:
        images = [Path(place) / "data" / name for name in SHIPPED]
        images = [image for image in images if image.is_file()]
        if images:
            return images
    raise Error(
        "the demo's photographs come with scikit-image, which this Python lacks; install it "
        f"({sys.executable} -m pip install scikit-image), or show your own: --images DIR"
    )


def read(path: Path) -> Any:
    """An image file as a grey Pillow image of 8 bits, upright; transparent pixels are white.

    Raises:
        Error: hocket cannot read the file, or it is no image.
    """
    try:
        pillow: Any = importlib.import_module("PIL.Image")
        upright: Any = importlib.import_module("PIL.ImageOps").exif_transpose
    except ImportError as problem:
        raise Error(
            "reading images needs Pillow, which this Python lacks; install it: "
            f"{sys.executable} -m pip install pillow"
        ) from problem
    try:
        with pillow.open(path) as opened:
            image = upright(opened)
            if image.mode.startswith(("I", "F")):
                return pillow.fromarray(_eight_bits(image))
            if "transparency" in image.info or image.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
                image = image.convert("RGBA")
                white = pillow.new("RGBA", image.size, "white")
                image = pillow.alpha_composite(white, image)
            return image.convert("L")
    # Pillow's decoders raise many kinds of exceptions for damaged files
    except Exception as problem:
        what = str(problem) or type(problem).__name__
        raise Error(f"'{printable(str(path))}' cannot be read as an image: {what}") from problem


def _eight_bits(image: Any) -> Grey:
    """Pixels of more than 8 bits, scaled from the smallest to the largest over the full range;
    NaN becomes black."""
    values = np.asarray(image, dtype=np.float64)
    finite = np.isfinite(values)
    low = float(values.min(initial=np.inf, where=finite))
    high = float(values.max(initial=-np.inf, where=finite))
    scale = 255.0 / (high - low) if high > low else 0.0
    return np.where(finite, (np.where(finite, values, low) - low) * scale, 0.0).astype(np.uint8)


def printable(name: str) -> str:
    """A file's name, which may be any bytes, as text for any terminal."""
    return name.encode("utf-8", "replace").decode("utf-8")


def stream(
    paths: list[Path], size: int, frames: int, skipped: Callable[[Error], None] | None = None
) -> tuple[npt.NDArray[np.uint8], list[str]]:
    """Square grey frames from the photographs, in turn.

    The first round shows each photograph's centre, later ones closer crops that move, so that no
    two frames are alike.

    Args:
        paths: image files, at least one. size: pixels a side, N. frames: how many, F. skipped:
        called with each unreadable file; the others are used.

    Returns:
        uint8 array (F, N, N), and the name of each frame's photograph.

    Raises:
        Error: none of the files is a readable image; there is not enough memory for the frames.
    """
    pictures: list[Any] = []
    stems: list[str] = []
    trouble: list[Error] = []
    for path in paths:
        if len(pictures) == frames:
            break
        try:
            pictures.append(read(path))
            stems.append(printable(path.stem))
        except Error as problem:
            trouble.append(problem)
    if not pictures:
        more = f"; nor can {len(trouble) - 1} others" if len(trouble) > 1 else ""
        raise Error(f"{trouble[0]}{more}")
    for one in trouble:
        if skipped is not None:
            skipped(one)
    try:
        result = np.empty((frames, size, size), dtype=np.uint8)
    except (MemoryError, ValueError):
        raise Error(
            f"{frames} images of {size} × {size} pixels do not fit into memory; give a smaller "
            "--size, or fewer --frames"
        ) from None
    names = []
    for frame in range(frames):
        turn, which = divmod(frame, len(pictures))
        picture = pictures[which]
        side = min(picture.size)
        crop = max(1, round(side * 0.85 ** min(turn, 6)))
        across = (picture.size[0] - crop) * _wander(turn, 0.37)
        down = (picture.size[1] - crop) * _wander(turn, 0.71)
        box = (across, down, across + crop, down + crop)
        shown = picture.resize((size, size), resample=3, box=box)  # 3: bicubic
        result[frame] = np.asarray(shown, dtype=np.uint8)
        names.append(stems[which])
    return result, names


def _wander(turn: int, stride: float) -> float:
    """The position of the crop between its two ends: the centre first."""
    return (0.5 + turn * stride) % 1.0

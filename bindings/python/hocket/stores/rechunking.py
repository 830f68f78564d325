# SPDX-License-Identifier: BSD-3-Clause
"""Copies stores into other chunks, out of core."""

from __future__ import annotations

import itertools
import json
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from hocket import _mpi
from hocket.arguments import as_bytes
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.errors import Error
from hocket.layouts import integers
from hocket.redistribution import as_axes
from hocket.stores import together
from hocket.stores.store import Store, is_file, open_store, path_of
from hocket.stores.stored import StoredArray

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["rechunk"]

#: beside the metadata of an incomplete copy: its parameters, and its progress
PROGRESS = ".hocket-rechunk"
#: default number of bytes of a block, over all processes
USUAL = 1 << 30

Block = tuple[slice, ...]
Told = Callable[[str, int, int], None]


def blocks(
    shape: Sequence[int], tiles: Sequence[int], other: Sequence[int], most: int
) -> list[Block]:
    """Boxes that cover the shape, each of whole tiles, with at most so many elements if a tile is
    smaller. They grow first to whole tiles of `other`, too, so that no tile is read or written
    twice.
    """
    extents = list(tiles)
    for aligned in (True, False):
        for d in reversed(range(len(shape))):
            step = math.lcm(extents[d], other[d]) if aligned else extents[d]
            room = most // max(1, math.prod(extents) // extents[d])
            wanted = -(-shape[d] // step) * step
            extents[d] = max(extents[d], min(room // step * step, wanted))
    return [
        tuple(slice(a, min(a + n, whole)) for a, n, whole in zip(start, extents, shape))
        for start in itertools.product(*(range(0, n, e) for n, e in zip(shape, extents)))
    ]


def _files(stored: StoredArray) -> tuple[int, ...]:
    return stored.shards or stored.chunks


def _codec(stored: StoredArray, path: str) -> str:
    """The codec of a copy. hocket does not write every codec that it reads."""
    if path.endswith(".npy") or (is_file(path) and "gzip" not in stored.codec):
        return "none"
    names = [name for name in ("none", "zstd", "gzip") if name in stored.codec]
    return names[0] if names else "zstd"


def _made(to: Store, stored: StoredArray, order: list[int], chunks: Any, shards: Any) -> None:
    names: Any = [stored.dimension_names[axis] or f"dim_{axis}" for axis in order]
    if is_file(to.path) and (to.path.endswith(".npy") or not any(stored.dimension_names)):
        names = None
    to.create(
        stored.name,
        [stored.shape[axis] for axis in order],
        stored.dtype,
        chunks=chunks,
        shards=shards,
        codec=_codec(stored, to.path),
        fill=_number(stored.fill, stored.dtype.kind),
        dimension_names=names,
        attributes=stored.attributes,
    )


def _number(fill: Any, kind: str) -> Any:
    """A fill value for NumPy, from JSON."""
    if kind == "c":
        return complex(*(_number(part, "f") for part in fill))
    if kind == "V":
        return bytes(fill)
    return float(fill.replace("Infinity", "inf")) if isinstance(fill, str) else fill


def _progress_file(path: str) -> Path:
    """In the store's folder, or beside its file."""
    at = Path(path)
    return at.with_name(f".{at.name}{PROGRESS}") if is_file(path) else at / PROGRESS


def _progress_in(path: str, comm: MPI.Comm) -> str:
    """The state of an incomplete copy, found by process 0, on all processes."""
    file = _progress_file(path)
    with collective(comm, None):
        # An .npy file is there only once its array could be made.
        begun = comm.rank == 0 and file.is_file() and Path(path).exists()
        text = file.read_text("utf-8") if begun else "null"
        json.loads(text)
    return _mpi.tell(comm.handle, text, 0, None)


class _Progress:
    """Stores the progress of a copy on the disk, so that the next job continues there."""

    def __init__(self, to: Store, asked: dict[str, Any]) -> None:
        self._path = _progress_file(to.path)
        self._asked = asked
        self._comm = to._comm
        known = json.loads(_progress_in(to.path, to._comm))
        if known is not None and known["asked"] != asked and list(to):
            raise Error(
                f"{to.path!r} was begun with {known['asked']}, and you ask for {asked}; ask for "
                "the same, or remove it"
            )
        self.done: dict[str, int] = {} if known is None else known["done"]

    def save(self, name: str, number: int) -> None:
        self.done[name] = number
        if self._comm.rank != 0:
            return
        # Another collective call follows, in which an error reaches all processes.
        with collective(self._comm, None):
            beside = self._path.with_suffix(".new~")
            state = {"asked": self._asked, "done": self.done}
            beside.write_text(json.dumps(state), encoding="utf-8")
            beside.replace(self._path)

    def end(self) -> None:
        if self._comm.rank == 0:
            with collective(self._comm, None):
                self._path.unlink()


def rechunk(
    source: Union[str, Path],
    destination: Union[str, Path],
    *,
    chunks: Optional[Sequence[int]] = None,
    shards: Optional[Sequence[int]] = None,
    axes: Optional[Sequence[int]] = None,
    max_memory: Optional[int] = None,
    comm: Optional[MPI.Comm] = None,
    timeout: Optional[float] = None,
) -> None:
    """Copies all arrays of a store into a new one with other chunks. Collective.

    Arrays may be larger than the memory of all processes: they are copied in blocks of whole shards
    of the destination. An interrupted copy continues with the next equal call. Arrays of texts and
    other types that hocket does not store are left out.

    Parameters
    ----------
    source, destination
        paths of stores; the destination is new, or was begun by an equal call
    chunks, shards
        as for `Store.create`, for the arrays with so many dimensions; others, as coordinates, get
        extents that suit them
    axes
        the copy of each array with so many dimensions is ``numpy.transpose(stored, axes)``
    max_memory
        the approximate bytes of all processes together; None: 4 GiB. At least one shard is in
        memory
    comm
        None: ``MPI.COMM_WORLD``

    Raises
    ------
    Error, LayoutError
        on every process, if there is no such store, the destination is another store, or extents
        are invalid.
    DeadlineError
        after `timeout` seconds for one block.

    Examples
    --------
    >>> a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((3, 4), "(*, *)"), "int64")
    >>> hk.save("run.zarr", {"t": a})
    >>> hk.rechunk("run.zarr", "turned.zarr", chunks=(2, 3), axes=(1, 0))
    >>> hk.open_store("turned.zarr")["t"][1]
    array([ 1, 11, 21])
    """
    copy(source, destination, chunks, shards, axes, max_memory, comm, timeout, lambda *_: None)


def copy(
    source: Any,
    destination: Any,
    chunks: Any,
    shards: Any,
    axes: Any,
    max_memory: Any,
    comm: Any,
    timeout: Optional[float],
    told: Told,
) -> None:
    """The same; calls `told` with (array, blocks done, blocks) on every process."""
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        paths = path_of(source), path_of(destination)
        most = 4 * USUAL if max_memory is None else as_bytes(max_memory, "max_memory")
        extents = together.extents(chunks, "chunks"), together.extents(shards, "shards")
        order = None if axes is None else integers(axes, "axes")
        asked = {"source": paths[0], "chunks": extents[0], "shards": extents[1], "axes": order}
    begun = _progress_in(paths[1], on) != "null"
    old = open_store(paths[0], comm=on)
    with collective(on, seconds):
        meant = _meant(old, [*extents, order])
        orders = {
            name: as_axes(order, old[name].ndim)
            if order is not None and name in meant
            else list(range(old[name].ndim))
            for name in old
        }
    with old, _begun(paths[1], begun, on) as new:
        progress = None
        try:
            with collective(on, seconds):
                progress = _Progress(new, asked)
            if not list(new):
                progress.save("", 0)
                new.set_attributes(old.attributes)
            for name in old:
                if name not in new:
                    own = extents if name in meant else ([], [])
                    _made(new, old[name], orders[name], own[0] or None, own[1] or None)
        except Exception:
            if not begun and on.rank == 0:
                _remove(new)
            raise
        for name in old:
            for number, count in _copied(old, new, name, orders[name], most, progress, seconds):
                told(name, number, count)
        new._together().forget_unfinished()  # the progress says that all blocks are written
        progress.end()


def _remove(made: Store) -> None:
    """Removes a destination that this call has made, whose attributes or extents were refused. The
    store is still open, so no other job writes to it."""
    with suppress(OSError):
        _progress_file(made.path).unlink(missing_ok=True)
        if not is_file(made.path):
            shutil.rmtree(made.path)
        elif list(made) or not made.path.endswith(".npy"):  # else somebody else's file
            Path(made.path).unlink()


def _meant(old: Store, options: list[Any]) -> set[str]:
    """The arrays with as many dimensions as the options, or all where none fits."""
    lengths = {len(each) for each in options if each}
    names = {name for name in old if lengths <= {old[name].ndim}}
    return names or set(old)


def _begun(path: str, begun: bool, comm: Any) -> Store:
    """The destination, without a warning that it was not closed: this call continues it."""
    mode = "r+" if begun else "w"
    on, _, core = together.opened(lambda: path, mode, comm, None)
    return Store(path, mode, core.files(), core, on)


def _copied(
    old: Store, new: Store, name: str, order: list[int], most: int, progress: _Progress,
    seconds: Optional[float],
) -> Iterator[tuple[int, int]]:  # fmt: skip
    stored = new[name]
    theirs = [_files(old[name])[axis] for axis in order]
    # Memory of the block itself, of readers, of writers, and of messages.
    elements = most // 4 // stored.dtype.itemsize
    boxes = blocks(stored.shape, _files(stored), theirs, max(1, elements))
    held = max(most // 4 // new._comm.size, math.prod(stored.chunks) * stored.dtype.itemsize)
    reads = max(held, math.prod(old[name].chunks) * stored.dtype.itemsize)
    for number, box in enumerate(boxes, 1):
        if number > progress.done.get(name, 0):
            region = [slice(0, 0)] * len(order)
            for axis, part in zip(order, box):
                region[axis] = part
            a = old.read(name, region=tuple(region), axes=order, max_buffer=reads, timeout=seconds)
            new.write(name, a, region=box, max_buffer=held, timeout=seconds)
            progress.save(name, number)
        yield number, len(boxes)

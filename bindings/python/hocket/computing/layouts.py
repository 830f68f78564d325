# SPDX-License-Identifier: BSD-3-Clause
"""The layout of an operation's result, and the layouts that its operands need."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Callable, TypeVar

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.errors import LayoutError
from hocket.layouts import Layout
from hocket.plans import plan

Shape = tuple[int, ...]

Result = TypeVar("Result")


class ByText:
    """A layout as a key, equal only to layouts that are equal and have equal texts.

    Equal layouts may have different texts, by which the processes of a call agree. So results
    derived from a layout must not come from an equal one, which another process may not have met.
    """

    __slots__ = ("layout",)

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def __hash__(self) -> int:
        return hash(self.layout)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByText):
            return NotImplemented
        ours, theirs = self.layout, other.layout
        return ours is theirs or (ours == theirs and str(ours) == str(theirs))


def as_key(value: Any) -> Any:
    """Arguments with their layouts as keys; and back."""
    if isinstance(value, Layout):
        return ByText(value)
    return tuple(as_key(each) for each in value) if isinstance(value, tuple) else value


def from_key(value: Any) -> Any:
    if isinstance(value, ByText):
        return value.layout
    return tuple(from_key(each) for each in value) if isinstance(value, tuple) else value


def is_listed(value: Any) -> bool:
    """Whether arguments have a layout of listed elements, of which it keeps tables."""
    if isinstance(value, tuple):
        return any(map(is_listed, value))
    return isinstance(value, Layout) and value._native.is_indexed


def by_value(function: Callable[..., Result]) -> Callable[..., Result]:
    """Caches results derived from layouts, which are values; also from layouts in tuples."""

    def derived(*keys: Any) -> Result:
        return function(*from_key(keys))

    found = functools.lru_cache(maxsize=1024)(derived)
    # Entries keep their layouts, and the tables of listed elements take many bytes an element.
    listed = functools.lru_cache(maxsize=8)(derived)

    @functools.wraps(function)
    def call(*arguments: Any) -> Result:
        return (listed if is_listed(arguments) else found)(*as_key(arguments))

    return call


def kept(function: Callable[..., Result]) -> Callable[..., Result]:
    """Caches results derived from layouts that are arguments themselves: first by their identities,
    whose keys take a tenth of the time, then by their values."""
    # Entries keep no layouts, neither arguments nor results: `found` keeps a few of them. An entry
    # goes with the first of its layouts, so that no later layout has their identities.
    recent: dict[Any, tuple[Any, list[Any]]] = {}
    found = by_value(function)

    @functools.wraps(function)
    def call(*arguments: Any) -> Result:
        key = tuple([id(each) if type(each) is Layout else each for each in arguments])
        entry = recent.get(key)
        if entry is not None:
            result = entry[0]
            if type(result) is weakref.ref:
                result = result()
            if result is not None:
                return result  # type: ignore[no-any-return]

        def forget(_: Any) -> None:
            recent.pop(key, None)

        result = found(*arguments)
        if len(recent) >= 1024:
            recent.clear()
        layouts = [weakref.ref(each, forget) for each in arguments if type(each) is Layout]
        recent[key] = weakref.ref(result) if type(result) is Layout else result, layouts
        return result

    return call


def aligned(shape: Shape, own: Sequence[str], template: Sequence[str], layout: Layout) -> Layout:
    """`Layout.aligned` of subscripts."""
    return Layout.aligned(shape, f"A({','.join(own)}) WITH T({','.join(template)})", layout)


@kept
def aligned_with(shape: Shape, layout: Layout) -> Layout:
    """The layout for an operand of `shape`, broadcast to ``layout.shape``.

    Each process holds the elements that its part of `layout` needs; processes along dimensions that
    the operand lacks hold copies.
    """
    if shape == layout.shape:
        return layout
    if layout.num_elements == 0:
        return balanced(shape, layout.size)
    offset = layout.ndim - len(shape)
    own, template = [], ["*"] * layout.ndim
    for d, extent in enumerate(shape):
        if extent == layout.shape[offset + d]:
            template[offset + d] = f"i{d}"
        own.append(template[offset + d])
    return aligned(shape, own, template, layout)


@kept
def extended(layout: Layout, shape: Shape) -> Layout:
    """The layout of an operand after broadcasting to `shape`: new dimensions are not
    distributed."""
    if shape == layout.shape:
        return layout
    offset = len(shape) - layout.ndim
    own, template = ["*"] * len(shape), ["0"] * layout.ndim
    for d, extent in enumerate(layout.shape):
        if extent == shape[offset + d]:
            own[offset + d] = template[d] = f"i{d}"
    return aligned(shape, own, template, layout)


@kept
def transposed(layout: Layout, axes: Shape) -> Layout:
    """For ``numpy.transpose(a, axes)``: nothing moves."""
    names = [f"i{d}" for d in range(layout.ndim)]
    shape = tuple(layout.shape[axis] for axis in axes)
    return aligned(shape, [names[axis] for axis in axes], names, layout)


def stretched(layout: Layout, axis: int, extent: int) -> Layout:
    """The layout with another extent of a dimension that is not distributed."""
    names = [f"i{d}" for d in range(layout.ndim)]
    own = ["*" if d == axis else name for d, name in enumerate(names)]
    template = ["0" if d == axis else name for d, name in enumerate(names)]
    shape = tuple(extent if d == axis else e for d, e in enumerate(layout.shape))
    return aligned(shape, own, template, layout)


@kept
def without(layout: Layout, axes: Shape, keepdims: bool) -> Layout:
    """For a reduction over `axes`: processes along the dimensions that lose theirs hold copies."""
    names = [f"i{d}" for d in range(layout.ndim)]
    template = ["*" if d in axes else name for d, name in enumerate(names)]
    if keepdims:
        shape = tuple(1 if d in axes else extent for d, extent in enumerate(layout.shape))
    else:
        shape = tuple(extent for d, extent in enumerate(layout.shape) if d not in axes)
    if any(layout.shape[d] == 0 for d in axes):  # no index, so no holders
        return replicated_layout(shape, layout.size)
    if keepdims:
        return aligned(shape, template, template, layout)
    left = [d for d in range(layout.ndim) if d not in axes]
    return aligned(tuple(layout.shape[d] for d in left), [names[d] for d in left], template, layout)


@kept
def balanced(shape: Shape, size: int, axis: int = -1) -> Layout:
    """One dimension distributed in even parts: `axis`, or the first that has enough indices for
    all processes."""
    if not shape:
        return Layout(shape, "()", ())
    if axis < 0:
        enough = [d for d, extent in enumerate(shape) if extent >= size]
        axis = enough[0] if enough else int(np.argmax(shape))
    formats = ["BALANCED" if d == axis else "*" for d in range(len(shape))]
    return Layout(shape, f"({', '.join(formats)})", size)


@kept
def replicated_layout(shape: Shape, size: int) -> Layout:
    """The whole array on every process."""
    return Layout(shape, f"({', '.join('*' * len(shape))})", (size,), replicate=(0,))


@kept
def flat(shape: Shape, size: int) -> Layout:
    """Even runs of the row-major elements, one a process: the local arrays have one dimension."""
    ends = even(math.prod(shape), size)
    return Layout.indexed(
        shape,
        [[(ends[r], ends[r + 1] - ends[r])] if ends[r + 1] > ends[r] else [] for r in range(size)],
    )


def even(count: int, size: int) -> list[int]:
    """The beginnings of the `BALANCED` parts of `count` elements, and the end of the last."""
    share, more = divmod(count, size)
    return [r * share + min(r, more) for r in range(size + 1)]


@kept
def like(layout: Layout, shape: Shape) -> Layout:
    """The formats of `layout` for another shape if they fit; else even parts."""
    if shape == layout.shape:
        return layout
    try:
        return Layout(shape, layout.dist, layout.procs, replicate=layout.replicate)
    except LayoutError:
        return balanced(shape, layout.size)


@kept
def is_grid(layout: Layout) -> bool:
    """Whether every process holds the product of sets of indices, which never overlap partly."""
    return not layout._native.is_indexed and layout.dist != "BOXES"


@kept
def held(layout: Layout) -> int:
    """The number of elements on all processes, including copies."""
    return sum(layout.local_elements(rank) for rank in range(layout.size))


def sole(layout: Layout) -> Layout:
    """`layout` if each element has one owner only; else even parts."""
    if held(layout) == layout.num_elements:
        return layout
    return balanced(layout.shape, layout.size)


@kept
def moved(source: Layout, destination: Layout) -> int:
    """The number of elements that change their process."""
    if source == destination:
        return 0
    both = range(min(source.size, destination.size))
    overlap = {rank: rank for rank in both}
    return plan(source, destination, strategy="direct", overlap=overlap).elements_moved


@by_value
def chosen(shape: Shape, operands: tuple[tuple[Layout, int], ...]) -> Layout:
    """The operand layout to which all operands move with the fewest bytes; on a tie, the first.

    `operands` are (layout, bytes of an element). Broadcast operands are candidates only if no
    operand has the whole shape.
    """
    whole = [layout for layout, _ in operands if layout.shape == shape]
    some = [layout for layout, _ in operands if layout.num_elements > 1]
    candidates = list(dict.fromkeys(whole or some or [layout for layout, _ in operands]))
    candidates = [extended(layout, shape) for layout in candidates]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda candidate: bytes_to(candidate, operands))


def bytes_to(target: Layout, operands: tuple[tuple[Layout, int], ...]) -> int:
    """The bytes that move if all operands move to `target`."""
    return sum(
        size * moved(layout, aligned_with(layout.shape, target)) for layout, size in operands
    )


def numbers(layout: Layout, rank: int) -> npt.NDArray[np.int64]:
    """The row-major number of each local element, shaped as the local array."""
    if rank >= layout.size or not (layout.shape or layout.local_elements(rank)):
        return np.empty((0,) * max(1, len(layout.local_shape(0))), np.int64)
    result = np.empty(layout.local_shape(rank), np.int64)
    for index, block in number_blocks(layout, rank):
        result[index] = block
    return result


#: numbers of elements at a time: they and what is computed from them stay in the cache
BLOCK = 1 << 15


def number_blocks(
    layout: Layout, rank: int
) -> Iterator[tuple[tuple[Any, ...], npt.NDArray[np.int64]]]:
    """The row-major numbers of local elements, a block after the other, as (index of the local
    array, numbers of the shape of that part). All numbers together may have many times the bytes of
    the array."""
    if rank >= layout.size or not layout.local_elements(rank):
        return
    if layout._native.is_indexed:
        listed = layout.global_indices(rank)[0]
        for first in range(0, len(listed), BLOCK):
            yield (slice(first, first + BLOCK),), listed[first : first + BLOCK]
        return
    shape, along = layout.local_shape(rank), indices_along(layout, rank)
    steps = [math.prod(layout.shape[d + 1 :]) for d in range(layout.ndim)]
    # Whole trailing dimensions, as many as fit, and a part of the one before.
    cut = layout.ndim
    while cut > 0 and math.prod(shape[cut - 1 :]) <= BLOCK:
        cut -= 1
    trailing = np.zeros((1,) * (layout.ndim - cut), np.int64)
    for d in range(cut, layout.ndim):
        own = along[d](0, shape[d]) * steps[d]
        trailing = trailing + own.reshape((-1,) + (1,) * (layout.ndim - 1 - d))
    if cut == 0:
        yield (), trailing
        return
    outer, rows = cut - 1, max(1, BLOCK // max(1, trailing.size))
    for place in np.ndindex(*shape[:outer]):
        before = sum(int(along[d](k, k + 1)[0]) * steps[d] for d, k in enumerate(place))
        for first in range(0, shape[outer], rows):
            last = min(first + rows, shape[outer])
            own = before + along[outer](first, last) * steps[outer]
            own = own.reshape((-1,) + (1,) * trailing.ndim)
            yield (*place, slice(first, last)), own + trailing


def indices_along(layout: Layout, rank: int) -> list[Callable[[int, int], npt.NDArray[np.int64]]]:
    """For each dimension, a function that gives the global indices of local indices [first, last):
    by a rule, where the process holds a slice of the dimension, else from a list."""

    def of_slice(begin: int, step: int, first: int, last: int) -> npt.NDArray[np.int64]:
        return np.arange(begin + step * first, begin + step * last, step, dtype=np.int64)

    def of_list(own: npt.NDArray[np.int64], first: int, last: int) -> npt.NDArray[np.int64]:
        return own[first:last]

    try:
        rules = layout._native.slices(rank)
    except LayoutError:
        return [functools.partial(of_list, own) for own in layout.global_indices(rank)]
    return [functools.partial(of_slice, begin, step) for begin, _, step in rules]


def normal_axes(axis: Any, ndim: int) -> Shape:
    """Axes by NumPy's rules: None is all. Raises `LayoutError`."""
    if axis is None:
        return tuple(range(ndim))
    from hocket.arguments import integers

    given = integers(axis, "axis")
    for each in given:
        if not -ndim <= each < ndim:
            raise LayoutError(f"there is no axis {each} in an array of {ndim} dimensions")
    found = tuple(sorted(each % ndim for each in given))
    if len(set(found)) != len(found):
        raise LayoutError(f"axis={axis!r} names a dimension twice")
    return found


def reduced_axes(axis: Any, ndim: int) -> Shape:
    """Axes of a reduction: as NumPy, axis 0 of an array without dimensions is none."""
    return () if ndim == 0 and axis in (0, -1) else normal_axes(axis, ndim)


def one_axis(axis: Any, ndim: int) -> int:
    """A single axis. Raises `LayoutError`."""
    found = normal_axes(axis, ndim)
    if axis is None or len(found) != 1:
        raise LayoutError(f"axis={axis!r}; give one dimension of {ndim}")
    return found[0]


@kept
def parts_along(layout: Layout, axis: int) -> tuple[int, ...]:
    """One index of each part into which the processes divide `axis`, of a layout on a grid."""
    return tuple(_mpi.parts_along(layout._native, axis))


def is_local(layout: Layout, axis: int) -> bool:
    """Whether every process has whole lines along `axis`."""
    return is_grid(layout) and (layout.num_elements == 0 or len(parts_along(layout, axis)) == 1)

# SPDX-License-Identifier: BSD-3-Clause
"""Every public C++ call has its counterpart in C and in Python: calls.toml says which."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import scan

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include" / "hocket"
TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).with_name("calls.toml")).read_text(encoding="utf-8")
)
C_ONLY: set[str] = set(TABLE.pop("c_only")["functions"])
KEYS = {"c", "python", "c_none", "python_none", "internal", "overloads"}
CALLS = [(header, name) for header, calls in TABLE.items() for name in calls]


def names(entry: dict[str, Any], language: str) -> list[str]:
    """The counterparts in a language."""
    value = entry.get(language, [])
    return [value] if isinstance(value, str) else list(value)


@functools.cache
def c_functions() -> list[str]:
    """The functions that hocket.h and its parts declare."""
    return scan.c_calls([HEADERS / "hocket.h", *sorted((HEADERS / "c").glob("*.h"))])


@pytest.mark.parametrize("header", sorted(path.stem for path in HEADERS.glob("*.hpp")))
def test_the_table_lists_the_header(header: str) -> None:
    """A new function, or a new overload of one, needs a line, and so a look at C and Python."""
    declared = scan.cpp_calls(HEADERS / f"{header}.hpp")
    listed = {name: entry.get("overloads", 1) for name, entry in TABLE.get(header, {}).items()}
    missing = sorted(f"{name} ({n}x)" for name, n in declared.items() if listed.get(name) != n)
    assert not missing, (
        f"{header}.hpp declares these (so many overloads), but calls.toml, [{header}], does "
        f"not list them so; name their counterparts in C and Python: {missing}"
    )
    gone = sorted(set(listed) - set(declared))
    assert not gone, f"calls.toml, [{header}], lists what {header}.hpp does not declare: {gone}"


def test_the_table_names_headers_only() -> None:
    """No section outlives its header."""
    assert {f"{header}.hpp" for header in TABLE} <= {path.name for path in HEADERS.glob("*.hpp")}


@pytest.mark.parametrize(("header", "name"), CALLS)
def test_the_entry_is_whole(header: str, name: str) -> None:
    """Both languages are accounted for: by a counterpart, or by a reason why there is none."""
    entry = TABLE[header][name]
    assert set(entry) <= KEYS
    if "internal" in entry:
        assert set(entry) <= {"internal", "overloads"} and entry["internal"]
        return
    for language in ("c", "python"):
        assert bool(names(entry, language)) != bool(entry.get(f"{language}_none")), language


@pytest.mark.parametrize(("header", "name"), CALLS)
def test_c_has_it(header: str, name: str) -> None:
    lacking = set(names(TABLE[header][name], "c")) - set(c_functions())
    assert not lacking, f"hocket.h declares no {sorted(lacking)}"


@pytest.mark.parametrize(("header", "name"), CALLS)
def test_python_has_it(header: str, name: str) -> None:
    for dotted in names(TABLE[header][name], "python"):
        first, *rest = dotted.split(".")
        if first in ("_mpi", "kernels"):  # what `import hocket` does not bring
            importlib.import_module(f"hocket.{first}")
        found: Any = importlib.import_module("hocket")
        for part in [first, *rest]:
            assert hasattr(found, part), f"{dotted}: {found!r} has no {part}"
            found = getattr(found, part)


def test_every_c_function_is_listed_once() -> None:
    """A C function that the table does not know would have no counterpart."""
    declared = c_functions()
    assert [name for name, n in Counter(declared).items() if n > 1] == []
    listed = C_ONLY | {c for h, name in CALLS for c in names(TABLE[h][name], "c")}
    assert listed == set(declared)


def test_every_c_function_is_defined_and_called_by_the_c_test() -> None:
    """Every declared function is compiled, and tests/capi calls it."""
    defined = "\n".join(p.read_text("utf-8") for p in (ROOT / "bindings/c").rglob("*.cpp"))
    defined += "\n".join(p.read_text("utf-8") for p in (HEADERS / "c").glob("*.h"))
    called = "\n".join(p.read_text("utf-8") for p in (ROOT / "tests/capi").glob("*.c"))
    for name in c_functions():
        pattern = rf"^(?:int|const char\*|static inline hocket_task_id) {name}\([^;]*?\) \{{"
        assert re.search(pattern, defined, re.MULTILINE), f"{name} is declared, but not defined"
        assert re.search(rf"\b{name}\(", called), f"{name} is not called by tests/capi"


class TestScan:
    """The scan itself, on what headers may hold."""

    def test_what_counts_as_a_call(self, tmp_path: Path) -> None:
        header = tmp_path / "x.hpp"
        header.write_text(
            """
#define MACRO(x) { x
#include <vector>
namespace hocket { class Ahead; enum class Side { a, b };
namespace inner {
/* not_this( */ // nor_this(
inline constexpr int number = strlen("{ not_that( ");
template <class T, class U = std::vector<int>> std::vector<T> made(T (*f)(int)) { if (f(1)) { } }
}
class Thing final : public Base<int> {
    int hidden();
  public:
    explicit Thing(int a = f(2), Shape b = {}) : a_(a), b_{b} { g(); }
    Thing(const Thing&) = delete; Thing(Thing&&) noexcept; ~Thing();
    [[nodiscard]] auto method() const -> int;
    auto method(int) { return 1; }
    bool operator==(const Thing&) const = default;
    friend bool operator<(const Thing&, const Thing&) { return call(); }
    friend void helper(const Thing&);
    struct Part { int x = compute(); void run(); };
    std::function<int(int)> field;
  protected: void also_hidden();
  private: struct Secret { void deeper(); };
};
struct Data { int a{3}, b[2]; using T = int (*)(int); void visible() const { x(); } };
}
template <> struct std::hash<hocket::Thing> { std::size_t operator()(int) const { return h(); } };
""",
            encoding="utf-8",
        )
        assert dict(scan.cpp_calls(header)) == {
            "inner::made": 1,
            "Thing::Thing": 1,
            "Thing::method": 2,
            "helper": 1,
            "Thing::Part::run": 1,
            "Data::visible": 1,
        }

    @pytest.mark.parametrize("text", ["namespace a { void f();", "void f(); }", "void f()"])
    def test_what_it_cannot_read_is_an_error(self, text: str, tmp_path: Path) -> None:
        header = tmp_path / "x.hpp"
        header.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"brace|without end"):
            scan.cpp_calls(header)

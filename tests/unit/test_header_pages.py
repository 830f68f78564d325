# SPDX-License-Identifier: BSD-3-Clause
"""The references of C++, C and Fortran show what is declared, and nothing that is private."""

import importlib.util
import re
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
import scan

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("header_pages", ROOT / "tools/header_pages.py")
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)

HEADER = """// SPDX-License-Identifier: BSD-3-Clause
// What it is for,
// in two lines.
#pragma once

namespace hocket {
namespace inner {
struct State;  // elsewhere
}

/// A pair.
class Pair {
  public:
    int sum() const { return a_ + b_; }

    int first() const;

  private:
    int a_, b_;

    int more();
};

int add(int a, int b);
/// Another.
int subtract(int a,
             int b);

}  // namespace hocket
"""


def test_a_header_in_parts():
    intro, items = pages.parts(HEADER)
    assert intro == "What it is for, in two lines."
    assert [pages.title(item) for item in items] == ["class Pair", "add, subtract"]
    assert "first() const" in items[0] and "private" not in items[0] and "more" not in items[0]
    assert items[0].endswith("};") and items[0].startswith("/// A pair.")


def test_every_public_class_has_its_heading():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="cpp.md"))
    shown = pages.on_page_markdown("# Reference\n", page=page)
    for path in (ROOT / "include/hocket").glob("*.hpp"):
        assert f"\n## hocket/{path.name}\n" in shown
        text = path.read_text(encoding="utf-8")
        for kind, name in re.findall(r"^(class|struct) ([\w:]+)[^;]*\{$", text, re.MULTILINE):
            assert re.search(rf"\n### {kind} {name}[,\n]", shown), (path.name, name)
    assert shown.count("```") == 2 * shown.count("```cpp") and "private:" not in shown
    other = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    assert pages.on_page_markdown("# Other\n", page=other) == "# Other\n"


C_HEADER = """/* SPDX-License-Identifier: BSD-3-Clause */
/* What it is for.
 *
 * And how. */
#ifndef HOCKET_X_H
#define HOCKET_X_H
#include <stdint.h>
#define HOCKET_NUMBER 3
#ifdef __cplusplus
extern "C" {
#endif

typedef struct hocket_x hocket_x;
/* Makes one { of two }. */
int hocket_x_make(int a, /* above 0 */
                  hocket_x** x);
int hocket_x_sum_int8(int8_t a);
int hocket_x_sum_int16(int16_t a);
/* Ends it. */
int hocket_x_free(hocket_x** x);

#ifdef __cplusplus
}
#endif
#endif
"""


def test_a_header_of_c_in_parts():
    intro, items = pages.parts(C_HEADER)
    assert intro == "What it is for.\n\nAnd how."
    titles = [
        "HOCKET_NUMBER",
        "hocket_x",
        "hocket_x_make, hocket_x_sum_int8, hocket_x_sum_int16",
        "hocket_x_free",
    ]
    assert [pages.title(item) for item in items] == titles
    assert items[2].startswith("/* Makes one") and items[3].startswith("/* Ends it.")


def headings(shown):
    return [name for line in re.findall(r"^### (.+)$", shown, re.M) for name in line.split(", ")]


def test_every_function_of_c_has_its_heading():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="c.md"))
    shown = pages.on_page_markdown("# Reference\n", page=page)
    named = headings(shown)
    for name in scan.c_calls(pages.c_headers()):
        assert name in named, name
        assert re.search(rf"\b{name}\(", shown), name
    assert "enum hocket_code" in named and "HOCKET_VERSION_NUMBER" in named
    assert "extern" not in shown and "#include" not in shown and "_H\n" not in shown


def test_every_procedure_of_fortran_has_its_interface():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="fortran.md"))
    shown = pages.on_page_markdown("# Reference\n", page=page)
    named = headings(shown)
    assert len(named) == len(set(named)) > 200
    for name in named:
        assert re.search(rf"^(subroutine|function) {name}\(", shown, re.MULTILINE), name
    sys.path.insert(0, str(ROOT / "bindings/fortran"))
    import generate
    import manners

    headers = generate.read(ROOT / "include/hocket")
    for function in generate.said(headers):
        for name in manners.names_of(function.name.removesuffix("_fortran")):
            assert name in named or name == "hocket_fail", name
    for name in ("hocket_reads", "hocket_triplet", "hocket_error_message"):
        assert name in named
    wanted = """subroutine hocket_layout_make(shape, dist, procs, layout, replicate, ierr)
  integer, intent(in) :: shape(:)  ! or integer(int64)
  character(*), intent(in) :: dist
  integer, intent(in) :: procs(:)
  type(hocket_layout), intent(out) :: layout
  integer, intent(in), optional :: replicate(:)
  integer, intent(out), optional :: ierr
end subroutine
"""
    assert wanted in shown
    assert "integer, parameter :: HOCKET_ERR_LAYOUT = 2\n" in shown and "_target_" not in shown


def test_fences_and_links_that_the_site_cannot_show():
    """Python-Markdown knows no words beside a fence's language; examples are not on the site."""
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guide/index.md"))
    shown = pages.on_page_markdown(
        "```sh no-run\nls\n```\n```python ranks=3\n1\n```\n[`a`](../../examples/a.py) [b](b.md)\n",
        page=page,
    )
    assert shown == "```sh\nls\n```\n```python\n1\n```\n`examples/a.py` [b](b.md)\n"


def test_every_fence_of_the_documentation_is_plain_on_the_site():
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guide/index.md"))
    for path in (ROOT / "docs").rglob("*.md"):
        shown = pages.on_page_markdown(path.read_text(encoding="utf-8"), page=page)
        fences = re.findall(r"^```.*$", shown, re.MULTILINE)
        assert all(re.fullmatch(r"```[\w]*", fence) for fence in fences), (path, fences)
        assert "](../../examples" not in shown, path

# SPDX-License-Identifier: BSD-3-Clause
"""The C++ reference shows what the public headers declare, and nothing that is private."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

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
            assert f"\n### {kind} {name}\n" in shown, (path.name, name)
    assert shown.count("```") == 2 * shown.count("```cpp") and "private:" not in shown
    other = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    assert pages.on_page_markdown("# Other\n", page=other) == "# Other\n"


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

// SPDX-License-Identifier: BSD-3-Clause
// For libFuzzer: any bytes parse as a layout, a distribution, an alignment or an HPF program, or
// raise LayoutError; what parses has a text that gives the same layout back. `make soak` runs it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "hocket/layout.hpp"

using hocket::Layout;
using hocket::LayoutError;

namespace {

void check(const Layout& layout) {
    const std::string text = layout.text();
    const Layout again = Layout::parse(text);
    if (again.text() == text && again.hash() == layout.hash() &&
        (layout.size() > 4096 || again == layout))
        return;
    std::fprintf(stderr, "%s\ngives\n%s\n", text.c_str(), again.text().c_str());
    std::abort();
}

template <class Make>
void attempt(Make&& make) {
    try {
        make();
    } catch (const LayoutError& error) {
        if (std::string_view(error.what()).empty()) std::abort();
    }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Layout target({40, 30, 10}, "(BLOCK, CYCLIC, *)", {3, 2});
    if (size == 0) return 0;
    // The first byte chooses the parser, so that the rest may be a seed as people write it.
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
        case 0:
            attempt([&] { check(Layout::parse(text)); });
            break;
        case 1:
            attempt([&] { check(Layout({40, 30, 10}, text, {3, 2})); });
            break;
        case 2:
            attempt([&] { check(Layout::aligned({5, 4, 5}, text, target)); });
            break;
        default:
            attempt([&] {
                for (const auto& [name, layout] : Layout::from_hpf(text, {{"n", 8}, {"m", 3}}))
                    check(layout);
            });
    }
    return 0;
}

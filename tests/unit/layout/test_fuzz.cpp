// SPDX-License-Identifier: BSD-3-Clause
// Damaged texts: a parser parses or raises LayoutError, soon, whatever it is given.
// HOCKET_FUZZ=n makes n rounds (make soak); HOCKET_SEED=s repeats a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "hocket/layout.hpp"

using hocket::Layout;
using hocket::LayoutError;

namespace {

const std::vector<std::string> texts{
    "(12, 12) (BLOCK, CYCLIC(3)) @ (4, 2)",
    "(12) (*) @ (3 COPIES)",
    "(4, 5) A(i, j) WITH T(2*j+1, -i+3, *, *[0:9:3], 2) OF (12, 9, 4, 10, 3) (BLOCK, CYCLIC(2), "
    "BLOCK, CYCLIC, *) @ (3, 2, 2, 4) AS (47, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
    "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, "
    "39, 40, 41, 42, 43, 44, 45, 46, 0) OF 50",
    "(10, 10) INDEXED [0+5, 10+3 | 20+7 | ]",
    "A(i, *, :) WITH T(2*(i+1)-1, :, 1:9:2)",
    "!HPF$ ALIGN A(i) WITH T(i)",
    "!HPF$ processors p(2, n/2)\nreal, dimension(n, 0:m) :: a, b(4)\n!HPF$ template t(2*n, m)\n"
    "!HPF$ distribute t(BLOCK, CYCLIC(2)) onto p\n!HPF$ align a(i, j) with t(2*i, j+1)\n"
    "integer, parameter :: k = 4\n!HPF$ align (:) with a(:, 1) &\n!HPF$& :: b\nend\n",
};

std::string damaged(std::mt19937& engine) {
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine);
    };
    static const std::string characters = "()*,:+-/@[]|!&$ 0123456789ijABCKLO\n\t\xc3\xa9";
    static const std::vector<std::string> words{"BLOCK",   "CYCLIC", "COPIES",
                                                "AS",      "OF",     "WITH",
                                                "INDEXED", "ALIGN",  "9223372036854775807",
                                                "((((",    "::",     "99999999999999999999"};
    std::string text = texts[below(texts.size())];
    for (std::size_t changes = below(4); changes-- > 0 && !text.empty();) {
        const std::size_t at = below(text.size());
        switch (below(5)) {
            case 0:
                text[at] = characters[below(characters.size())];
                break;
            case 1:
                text.insert(at, 1, characters[below(characters.size())]);
                break;
            case 2:
                text.erase(at, 1 + below(4));
                break;
            case 3:
                text.insert(at, words[below(words.size())]);
                break;
            default:
                text += texts[below(texts.size())].substr(0, below(30));
        }
    }
    return text;
}

}  // namespace

TEST(Fuzz, a_parser_parses_or_raises) {
    const char* rounds = std::getenv("HOCKET_FUZZ");
    const char* given = std::getenv("HOCKET_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atol(given)) : 11;
    std::printf("seed %u\n", seed);
    std::mt19937 engine(seed);
    const Layout target({40, 30, 10}, "(BLOCK, CYCLIC, *)", {3, 2});
    int parsed = 0;
    for (long round = rounds != nullptr ? std::atol(rounds) : 20000; round > 0; --round) {
        const std::string text = damaged(engine);
        SCOPED_TRACE(text);
        try {
            const Layout layout = Layout::parse(text);
            ++parsed;
            ASSERT_EQ(Layout::parse(layout.text()).text(), layout.text());
        } catch (const LayoutError&) {
        }
        try {
            Layout::aligned({5, 4, 5}, text, target);
            ++parsed;
        } catch (const LayoutError&) {
        }
        try {
            for (const auto& [name, layout] : Layout::from_hpf(text, {{"n", 8}, {"m", 3}}))
                ASSERT_TRUE(Layout::parse(layout.text()) == layout);
            ++parsed;
        } catch (const LayoutError&) {
        }
    }
    EXPECT_GT(parsed, 1000);
}

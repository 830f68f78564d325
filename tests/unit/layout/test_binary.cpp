// SPDX-License-Identifier: BSD-3-Clause
// Layouts as bytes: every kind comes back as it was, and damaged bytes are refused.
// HOCKET_SEED=s repeats a run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/binary.hpp"

namespace hocket::layout {
namespace {

const std::vector<std::string> texts{
    "() () @ ()",
    "() () @ (3 COPIES)",
    "(0, 4) (BLOCK, *) @ (3)",
    "(12, 12) (BLOCK, CYCLIC(3)) @ (4, 2)",
    "(12, 7) (BLOCK(5), CYCLIC) @ (4, 3)",
    "(9223372036854775807) (BLOCK) @ (9223372036854775807)",
    "(12) (*) @ (3 COPIES)",
    "(12, 5) (BALANCED, *) @ (5, 2 COPIES)",
    "(10, 6) (GEN_BLOCK(3, 0, 7), BALANCED) @ (3, 4)",
    "(10, 6) (INDIRECT(2, 3*0, 1, 5*2), GEN_BLOCK(6)) @ (3, 1)",
    "(12, 12) (BLOCK, CYCLIC(3)) @ (2, 2) AS (3, 1, 0, 2)",
    "(12) (INDIRECT(12*1)) @ (2) AS (5, 0) OF 7",
    "(4, 5) A(i, j) WITH T(2*j+1, -i+3, *, *[1:7:3], 2) OF (12, 9, 4, 10, 3) (BLOCK, CYCLIC(2), "
    "BLOCK, CYCLIC, *) @ (3, 2, 2, 4) AS (47, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
    "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, "
    "39, 40, 41, 42, 43, 44, 45, 46, 0) OF 50",
    "(5) A(i) WITH T(2*i+1) OF (12) (GEN_BLOCK(7, 5)) @ (2)",
    "(3) A(*) WITH T(2) OF (4) (INDIRECT(1, 0, 1, 1)) @ (2)",
    "(10, 10) INDEXED [0+5, 10+3 | 20+7 | ]",
    "(10, 10) INDEXED []",
    "(10, 10) ELEMENTS [99, 3+4, 0 | | 0, 99]",
    "(8, 6) BOXES [0:4, 0:6 | 2:8, 3:3 | - | 4:8, 0:6]",
    "(8) BOXES [- | - | 3:5]",
    "() BOXES [- | ]",
};

std::vector<Layout> every_kind() {
    std::vector<Layout> all;
    for (const std::string& text : texts) all.push_back(Layout::parse(text));
    for (std::size_t k = 0; k < texts.size(); ++k) {
        std::vector<Slice> backwards;
        for (const std::int64_t extent : all[k].shape())
            backwards.push_back({extent - 1, extent / 2 + extent % 2, -2, true});
        if (all[k].num_elements() > 0 && all[k].num_elements() < 1000)
            all.push_back(all[k].section(backwards));
    }
    const std::vector<std::int64_t> order{4, 0, 2, 9};
    all.push_back(
        Layout::parse("(8, 6) BOXES [0:4, 0:6 | 2:8, 3:5 | - | 4:8, 0:6]").relabeled(order, 10));
    return all;
}

TEST(Binary, EveryKindComesBackAsItWas) {
    for (const Layout& layout : every_kind()) {
        SCOPED_TRACE(layout.text());
        const std::string bytes = bytes_of(layout.form());
        const Layout back(std::make_shared<const Form>(form_of(bytes)));
        EXPECT_EQ(back.text(), layout.text());
        EXPECT_EQ(bytes_of(back.form()), bytes);
        EXPECT_EQ(key_of(back.form()), key_of(layout.form()));
        EXPECT_EQ(bytes_of(Layout::parse(layout.text()).form()), bytes);
        EXPECT_EQ(back, layout);
        for (const std::int64_t rank : {std::int64_t{0}, layout.size() - 1})
            if (layout.num_elements() < 1000) {
                EXPECT_EQ(back.global_indices(rank), layout.global_indices(rank));
            }
    }
}

TEST(Binary, ManyProcessesWithFewBoxesTakeFewBytes) {
    std::vector<ProcessBox> one{{{{0, 4}, {0, 6}}, false}};
    const Form form = make_form({8, 6}, std::int64_t{1} << 40, {std::int64_t{1} << 39}, one);
    EXPECT_LT(bytes_of(form).size(), 40U);
    const Form back = form_of(bytes_of(form));
    EXPECT_EQ(back.size, form.size);
    EXPECT_EQ(back.boxes->box(std::int64_t{1} << 39), one[0]);
    EXPECT_TRUE(back.boxes->box(3).none);
}

TEST(Binary, ListsOfElementsAreShorterThanTheirText) {
    std::vector<std::vector<std::int64_t>> lists(4);
    for (std::int64_t i = 0; i < 10000; ++i) lists[i * i % 4].push_back(i * 7919 % 10000);
    const Layout layout = Layout::elements({10000}, lists);
    EXPECT_LT(bytes_of(layout.form()).size(), layout.text().size() * 3 / 4);
    EXPECT_TRUE(is_digest(key_of(layout.form())));
    std::swap(lists[0][0], lists[0][1]);
    EXPECT_NE(key_of(Layout::elements({10000}, lists).form()), key_of(layout.form()));
}

TEST(Binary, DamagedBytesAreALayoutOrAnError) {
    const char* const given = std::getenv("HOCKET_SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1;
    std::mt19937 engine(seed);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine);
    };
    std::vector<std::string> all;
    for (const Layout& layout : every_kind()) all.push_back(bytes_of(layout.form()));
    std::size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string bytes = all[below(all.size())];
        for (std::size_t changes = 1 + below(3); changes-- > 0 && !bytes.empty();) {
            const std::size_t at = below(bytes.size());
            switch (below(4)) {
                case 0:
                    bytes[at] = static_cast<char>(below(256));
                    break;
                case 1:
                    bytes.resize(at);
                    break;
                case 2:
                    bytes.insert(at, std::string(1 + below(9), '\xff'));
                    break;
                default:
                    bytes.erase(at, 1);
            }
        }
        try {
            static_cast<void>(form_of(bytes));
        } catch (const LayoutError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 10000U) << "seed " << seed;
}

TEST(Binary, NoListIsLongerThanItsBytes) {
    // A count of 2^62 items: refused before any memory is taken.
    const std::string many("\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", 9);
    for (const char kind : {'\0', '\1', '\2', '\3'}) {
        EXPECT_THROW(form_of(std::string(1, kind) + many), LayoutError);
        EXPECT_THROW(form_of(std::string(1, kind) + '\2' + '\2' + many), LayoutError);
    }
    EXPECT_THROW(form_of(""), LayoutError);
    EXPECT_THROW(form_of("\7"), LayoutError);
    EXPECT_THROW(form_of(digest_of("a")), LayoutError);
}

}  // namespace
}  // namespace hocket::layout

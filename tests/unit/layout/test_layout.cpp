// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "../layout/oracle.hpp"
#include "layout/owners.hpp"

using hocket::Layout;
using hocket::LayoutError;
using hocket::Shape;

namespace {

std::string message_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const LayoutError& error) {
        return error.what();
    }
    return "no error";
}

void compare(const oracle::Model& expected) {
    const Layout& layout = expected.layout;
    SCOPED_TRACE(layout.text());
    ASSERT_EQ(layout.size(), expected.size());
    std::vector<std::vector<std::int64_t>> owners(
        static_cast<std::size_t>(std::max<std::int64_t>(layout.num_elements(), 0)));
    for (std::int64_t rank = 0; rank < layout.size(); ++rank) {
        const std::vector<std::int64_t>& held = expected.held[static_cast<std::size_t>(rank)];
        ASSERT_EQ(layout.local_elements(rank), static_cast<std::int64_t>(held.size()));
        const auto indices = layout.global_indices(rank);
        const Shape local = layout.local_shape(rank);
        ASSERT_EQ(indices.size(), local.size());
        for (std::size_t d = 0; d < local.size(); ++d)
            ASSERT_EQ(static_cast<std::int64_t>(indices[d].size()), local[d]);
        for (std::size_t place = 0; place < held.size(); ++place) {
            owners[static_cast<std::size_t>(held[place])].push_back(rank);
            const Shape at = oracle::unflatten(static_cast<std::int64_t>(place), local);
            const Shape index = oracle::unflatten(held[place], layout.shape());
            for (std::size_t d = 0; d < at.size(); ++d)
                ASSERT_EQ(indices[d][static_cast<std::size_t>(at[d])],
                          layout.is_indexed() ? held[place] : index[d]);
            ASSERT_EQ(layout.local_index(index), at);
        }
    }
    hocket::layout::Owners seldom(layout), often(layout, std::size_t{1} << 20);
    for (std::int64_t flat = 0; flat < layout.num_elements(); ++flat) {
        const Shape index = oracle::unflatten(flat, layout.shape());
        ASSERT_EQ(layout.owners(index), owners[static_cast<std::size_t>(flat)]);
        if (owners[static_cast<std::size_t>(flat)].empty())
            ASSERT_THROW(layout.owner(index), LayoutError);
        else
            ASSERT_EQ(layout.owner(index), owners[static_cast<std::size_t>(flat)].front());
        for (hocket::layout::Owners* each : {&seldom, &often}) {
            if (owners[static_cast<std::size_t>(flat)].empty()) {
                ASSERT_THROW(each->of(flat), LayoutError);
                continue;
            }
            const auto [process, offset] = each->of(flat);
            ASSERT_EQ(process, layout.owner(index));
            const auto& held = expected.held[static_cast<std::size_t>(process)];
            ASSERT_EQ(held.at(static_cast<std::size_t>(offset)), flat);
        }
    }
}

}  // namespace

TEST(Layout, agrees_with_the_definitions_element_by_element) {
    oracle::Random random(1);
    for (int round = 0; round < 1500; ++round) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 5)));
        compare(random.model(shape, true));
        if (HasFatalFailure()) return;
    }
}

TEST(Layout, every_small_format_in_one_dimension) {
    for (std::int64_t n = 0; n <= 13; ++n)
        for (std::int64_t p = 1; p <= 5; ++p)
            for (std::int64_t k = 0; k <= 7; ++k)
                for (const auto kind :
                     {hocket::layout::Format::Kind::block, hocket::layout::Format::Kind::cyclic}) {
                    if (kind == hocket::layout::Format::Kind::block && k > 0 && k * p < n) continue;
                    oracle::Case expected{{n}, {{}}, {{n}, {{kind, k}}, {p}, {}}};
                    expected.alignment[0].dimension = 0;
                    compare(oracle::Model::of(expected));
                    ASSERT_FALSE(HasFatalFailure());
                }
}

TEST(Layout, every_alignment_of_small_extents) {
    for (std::int64_t n = 1; n <= 9; ++n)
        for (std::int64_t p = 1; p <= 4; ++p)
            for (std::int64_t k = 1; k <= 4; ++k)
                for (std::int64_t a = -9; a <= 9; ++a)
                    for (std::int64_t b = 0; b <= 4; ++b) {
                        if (a == 0) continue;
                        const std::int64_t first = a < 0 ? b - a * (n - 1) : b;
                        const std::int64_t extent = std::max(first, first + a * (n - 1)) + 1;
                        const oracle::Case expected{
                            {n},
                            {{hocket::layout::Subscript::Kind::index, 0, a, first, 0}},
                            {{extent}, {{hocket::layout::Format::Kind::cyclic, k}}, {p}, {}}};
                        compare(oracle::Model::of(expected));
                        ASSERT_FALSE(HasFatalFailure());
                    }
}

TEST(Layout, text_parses_back) {
    oracle::Random random(2);
    for (int round = 0; round < 500; ++round) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 5)));
        const Layout layout = random.model(shape, true).layout;
        const Layout again = Layout::parse(layout.text());
        EXPECT_EQ(again.text(), layout.text());
        EXPECT_TRUE(again == layout);
        EXPECT_EQ(again.hash(), layout.hash());
        EXPECT_EQ(again.procs(), layout.procs());
        EXPECT_EQ(again.replicate(), layout.replicate());
    }
    EXPECT_EQ(Layout({12, 12}, "( block,*)", {4}).text(), "(12, 12) (BLOCK, *) @ (4)");
    EXPECT_EQ(Layout({8}, "(Cyclic(3))", {2, 4}, Shape{0}).text(),
              "(8) (CYCLIC(3)) @ (2 COPIES, 4)");
    EXPECT_TRUE(Layout::parse("(block, *)@4", {12, 12}) == Layout({12, 12}, "(BLOCK,*)", {4}));
    EXPECT_TRUE(Layout::parse("(*)", {12}) == Layout({12}, "(*)"));
    EXPECT_TRUE(Layout::parse("()", Shape{}) == Layout({}, "()"));
    EXPECT_TRUE(Layout::parse("() ()", Shape{}) == Layout({}, "()"));
}

TEST(Layout, equality_is_that_of_index_sets) {
    EXPECT_TRUE(Layout({8}, "(BLOCK)", {4}) == Layout({8}, "(CYCLIC(2))", {4}));
    EXPECT_EQ(Layout({8}, "(BLOCK)", {4}).hash(), Layout({8}, "(CYCLIC(2))", {4}).hash());
    EXPECT_FALSE(Layout({9}, "(BLOCK)", {4}) == Layout({9}, "(CYCLIC(2))", {4}));
    EXPECT_TRUE(Layout({4, 4}, "(BLOCK,*)", {1}) == Layout({4, 4}, "(*,*)"));
    EXPECT_TRUE(Layout({4}, "(BLOCK)", {1}) == Layout({4}, "(*)"));
    EXPECT_FALSE(Layout({4}, "(*)", {2}, Shape{0}) == Layout({4}, "(*)"));
    EXPECT_TRUE(Layout({0, 4}, "(BLOCK,*)", {2}) == Layout({0, 4}, "(*,BLOCK)", {2}));

    oracle::Random random(3);
    int equal = 0;
    for (int round = 0; round < 4000; ++round) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(1, 3)));
        const oracle::Model a = random.model(shape, true), b = random.model(shape, true);
        const bool same = a.layout.is_indexed() == b.layout.is_indexed() && a.held == b.held;
        EXPECT_EQ(a.layout == b.layout, same) << a.layout.text() << "\n" << b.layout.text();
        if (same) {
            EXPECT_EQ(a.layout.hash(), b.layout.hash());
            ++equal;
        }
    }
    EXPECT_GT(equal, 20);
}

TEST(Layout, alignments_in_hpfs_words) {
    const Layout t({12, 9, 4}, "(BLOCK, CYCLIC(2), BLOCK)", {3, 2, 2});
    const Layout a = Layout::aligned({4, 5}, "A(i,j) WITH T(2*j+1, i, *)", t);
    EXPECT_EQ(a.text(),
              "(4, 5) A(i, j) WITH T(2*j+1, i, *) OF (12, 9, 4) (BLOCK, CYCLIC(2), BLOCK) @ (3, 2, "
              "2)");
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 5; ++j) {
            std::vector<std::int64_t> owners = t.owners(Shape{2 * j + 1, i, 0});
            owners.push_back(t.owner(Shape{2 * j + 1, i, 3}));
            EXPECT_EQ(a.owners(Shape{i, j}), owners);
        }
    EXPECT_TRUE(a == Layout::aligned({4, 5}, "!hpf$ align x(p, q) with y(1+q*2, (p), *)", t));
    EXPECT_TRUE(Layout::aligned({12, 9, 4}, "A(:,:,:) WITH T(:,:,:)", t) == t);
    EXPECT_TRUE(Layout::aligned({12, 9, 4}, "A(i,j,k) WITH T(i,j,k)", t) == t);
    EXPECT_TRUE(Layout::aligned({5}, "A(:) WITH T(2:10:2, 0, *)", t) ==
                Layout::aligned({5}, "A(i) WITH T(2*i+2, 0, *)", t));
    // Aligned with what is aligned itself.
    const Layout b = Layout::aligned({3, 2}, "B(k, l) WITH A(-k+3, l+1)", a);
    for (std::int64_t k = 0; k < 3; ++k)
        EXPECT_EQ(b.owners(Shape{k, 1}), a.owners(Shape{3 - k, 2}));
    EXPECT_TRUE(Layout::parse(b.text()) == b);
    // `*` along a template that has fewer positions than processes: copies where it has any.
    const Layout small({2, 4}, "(BLOCK, BLOCK)", {3, 2});
    EXPECT_EQ(Layout::aligned({4}, "A(i) WITH T(*, i)", small).owners(Shape{0}),
              (std::vector<std::int64_t>{0, 2}));
}

// `regular` is the list of these positions, if they are equally spaced, else nothing.
void expect_progression(const std::vector<std::int64_t>& places,
                        const std::optional<hocket::Slice>& regular) {
    bool spaced = true;
    for (std::size_t i = 2; i < places.size(); ++i)
        spaced = spaced && places[i] - places[i - 1] == places[1] - places[0];
    ASSERT_EQ(regular.has_value(), spaced);
    if (!spaced) return;
    ASSERT_EQ(regular->count, static_cast<std::int64_t>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i)
        ASSERT_EQ(regular->first + static_cast<std::int64_t>(i) * regular->step, places[i]);
}

TEST(Layout, places_of_a_section_in_the_local_array) {
    oracle::Random random(7);
    for (int round = 0; round < 300; ++round) {
        const Shape shape = random.shape(static_cast<std::size_t>(random.between(0, 3)));
        const oracle::Model whole = random.model(shape, true);
        std::vector<hocket::Slice> slices;
        for (const std::int64_t n : shape) {
            hocket::Slice s{0, 0, 1, true};
            if (n > 0 && random.chance(30)) {
                s = {random.between(0, n - 1), 1, 1, false};
            } else if (n > 0) {
                s.step = random.between(1, 3);
                s.first = random.between(0, n - 1);
                s.count = random.between(0, (n - 1 - s.first) / s.step + 1);
                if (s.count > 0 && random.chance(40)) {
                    s.first += s.step * (s.count - 1);
                    s.step = -s.step;
                }
            }
            slices.push_back(s);
        }
        const oracle::Model section = whole.section(slices);
        compare(section);
        for (std::int64_t rank = 0; rank < whole.size(); ++rank) {
            const auto places = whole.layout.section_places(slices, rank);
            const auto regular = whole.layout.section_slices(slices, rank);
            ASSERT_EQ(regular.size(), places.size());
            for (std::size_t d = 0; d < places.size(); ++d)
                expect_progression(places[d], regular[d]);
            std::vector<std::int64_t> values{0};
            const Shape local = whole.layout.local_shape(rank);
            for (std::size_t d = 0; d < places.size(); ++d) {
                std::vector<std::int64_t> next;
                for (const std::int64_t v : values)
                    for (const std::int64_t place : places[d]) next.push_back(v * local[d] + place);
                values = next;
            }
            const auto& held = section.held[static_cast<std::size_t>(rank)];
            if (held.empty() && whole.layout.local_elements(rank) == 0) continue;
            if (held.empty() && places.empty()) continue;
            ASSERT_EQ(values.size(), held.size()) << section.layout.text();
            for (std::size_t k = 0; k < held.size(); ++k) {
                const Shape index = oracle::unflatten(held[k], section.shape());
                std::int64_t there = 0;
                std::size_t next = 0;
                for (std::size_t d = 0; d < slices.size(); ++d)
                    there = there * shape[d] + slices[d].first +
                            (slices[d].keep ? slices[d].step * index[next++] : 0);
                ASSERT_EQ(
                    whole.held[static_cast<std::size_t>(rank)][static_cast<std::size_t>(values[k])],
                    there);
            }
        }
    }
}

TEST(Layout, huge_extents_cost_nothing) {
    const std::int64_t n = std::int64_t{1} << 60;
    const Layout cyclic({n}, "(CYCLIC(7))", {1000003});
    EXPECT_EQ(cyclic.owner(Shape{n - 1}), (n - 1) / 7 % 1000003);
    const Layout block({n}, "(BLOCK)", {3});
    EXPECT_EQ(block.local_shape(2)[0], n - 2 * (n / 3 + 1));
    EXPECT_FALSE(cyclic == Layout({n}, "(CYCLIC(8))", {1000003}));
    const hocket::Slice tail{1, n - 1, 1, true}, backwards{n - 1, n, -1, true};
    const auto of_block = block.section_slices(std::span(&tail, 1), 0)[0].value();
    EXPECT_EQ(of_block.first, 1);
    EXPECT_EQ(of_block.count, n / 3);
    EXPECT_EQ(cyclic.section_slices(std::span(&backwards, 1), 5)[0].value().step, -1);
    const Layout wide({5}, "(CYCLIC(9000000000000000000))", {1000});
    EXPECT_EQ(wide.local_shape(0)[0], 5);
    EXPECT_EQ(wide.local_shape(1)[0], 0);
}

TEST(Layout, bad_input_is_an_error_that_says_where_and_how_to_mend_it) {
    EXPECT_EQ(
        message_of([] {
            Layout({12, 12}, "(BLOK, *)", {4});
        }),
        "malformed distribution: expected BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK(n, n, "
        "...), BALANCED, INDIRECT(p, p, ...) or * (did you mean 'BLOCK'?) at character 2\n"
        "(BLOK, *)\n ^");
    const auto says = [](const std::function<void()>& action, const std::string& part) {
        const std::string message = message_of(action);
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    says([] { Layout({4}, "BLOCK", {2}); }, "expected '('");
    says([] { Layout({4}, "(BLOCK", {2}); }, "\n(BLOCK\n      ^");
    says([] { Layout({4}, "(BLOCK) x", {2}); }, "expected the end of the text");
    says([] { Layout({4}, "(BLOCK(0))", {2}); }, "block size of 1 or more");
    says([] { Layout({4}, "(BLOCK(99999999999999999999))", {2}); }, "at most 2^63 - 1");
    says([] { Layout({4}, "(BLOCK(1))", {2}); }, "use BLOCK(2) or more");
    says([] { Layout({4, 4}, "(BLOCK)", {2}); }, "1 formats");
    says([] { Layout({4}, "(BLOCK)", {2, 2}); }, "one extent for each");
    says([] { Layout({4}, "(BLOCK)"); }, "0 extents");
    says([] { Layout({4}, "(*)", {2}); }, "0 dimensions");
    says([] { Layout({4}, "(BLOCK)", {0}); }, "1 or more");
    says([] { Layout({-4}, "(BLOCK)", {2}); }, "negative extent -4");
    says([] { Layout({4}, "(BLOCK)", {2, 2}, Shape{2}); }, "position 2");
    says([] { Layout({4}, "(BLOCK)", {2, 2, 2}, Shape{1, 1}); }, "twice");
    says([] { Layout({std::int64_t{1} << 40, 1 << 30}, "(*,*)"); }, "2^63 - 1 elements");
    says([] { Layout({4}, "(BLOCK)", {2}).local_shape(2); }, "no process 2");
    says([] { Layout({4}, "(BLOCK)", {2}).local_shape(-1); }, "no process -1");
    says([] { Layout({4}, "(BLOCK)", {2}).owner(Shape{4}); }, "outside the shape (4)");
    says([] { Layout({4}, "(BLOCK)", {2}).owners(Shape{-1}); }, "outside the shape (4)");
    says([] { Layout({4}, "(BLOCK)", {2}).local_index(Shape{1, 1}); }, "2 dimensions");
    const Layout t({12, 9}, "(BLOCK, CYCLIC(2))", {3, 2});
    const auto align = [&](const char* text, const std::string& part) {
        says([&] { Layout::aligned({4, 5}, text, t); }, part);
    };
    align("A(i,j) WITH T(i, k)", "\nA(i,j) WITH T(i, k)\n                 ^");
    align("A(i,j) WITH T(i)", "2 subscripts");
    align("A(i,j) WITH T(i, j, 1)", "2 subscripts");
    align("A(i) WITH T(i, 1)", "2 dummies");
    align("A(i,i) WITH T(i, 1)", "I is taken");
    align("A(i,j) WITH T(i, i)", "use each dummy once");
    align("A(i,j) WITH T(i+j, 1)", "one dummy");
    align("A(i,j) WITH T(i*j, 1)", "no product of dummies");
    align("A(i,j) WITH T(i-1, j)", "leaves it at i = 0");
    align("A(i,j) WITH T(4*i, j)", "leaves it at i = 3");
    align("A(i,j) WITH T(12, j)", "use 0 to 11");
    align("A(i,j) WITH T(i, :)", "no more ':'");
    align("A(i,j) WTH T(i, j)", "expected WITH");
    align("A(i,j) WITH T(i, j) x", "expected the end");
    align("A(i,j) WITH T(i, 99999999999*99999999999)", "2^63 - 1");
    align("A(i,j) WITH T(i, 1/0)", "other than 0");
    const auto segments = [&](std::vector<std::vector<hocket::Segment>> lists,
                              const std::string& part) {
        says([&] { Layout::indexed({4, 5}, lists); }, part);
    };
    segments({{{0, 5}}, {{4, 2}}}, "segments (0, 5) of process 0 and (4, 2) of process 1 overlap");
    segments({{{0, 5}, {3, 1}}}, "overlap");
    segments({{{18, 3}}}, "leaves the array of 20 elements");
    segments({{{-1, 3}}}, "negative");
    segments({{{1, -3}}}, "negative");
    segments({}, "names no process");
    const auto section = [&](std::vector<hocket::Slice> slices, const std::string& part) {
        says([&] { t.section(slices); }, part);
    };
    section({{0, 12, 1, true}}, "2 slices");
    section({{0, 13, 1, true}, {0, 9, 1, true}}, "leaves the shape (12, 9)");
    section({{0, 12, 0, true}, {0, 9, 1, true}}, "step 0");
    section({{0, -1, 1, true}, {0, 9, 1, true}}, "negative count");
    section({{0, 2, 1, false}, {0, 9, 1, true}}, "one index");
    says([&] { t.relabeled(Shape{0, 1}); }, "name a process for each");
    says([&] { t.relabeled(Shape{0, 1, 2, 3, 4, 4}); }, "twice");
    says([&] { t.relabeled(Shape{0, 1, 2, 3, 4, 6}, 6); }, "0 to 5");
    says([] { Layout::parse("(4) (BLOCK) 2"); }, "expected '@'");
    says([] { Layout::parse("(4) (BLOCK) @ (2"); }, "',' or ')'");
    says([] { Layout::parse(""); }, "expected '('");
    says([] { Layout::parse(std::string(1000, '(')); }, "...");
}

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "boxes.hpp"
#include "hocket/rows.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using namespace hocket::kernel;

/// A matrix somewhere in memory of its own, with random bytes around it and between its elements.
struct Guarded {
    Place place;
    Bytes memory;
    MatrixForm form;

    Guarded(std::mt19937_64& random, std::int64_t rows, std::int64_t columns, std::int64_t itemsize)
        : place(random_place(random, {rows, columns}, itemsize, true, false)),
          memory(random_bytes(random, place.bytes)),
          form{rows, columns, place.strides[0], place.strides[1]} {}
    std::byte* data() { return memory.data() + place.first; }
    /// The position of one row.
    Place row(std::int64_t number) const {
        return {{place.strides[1]}, place.first + number * place.strides[0], place.bytes};
    }
};

Extents random_rows(std::mt19937_64& random, std::int64_t count, std::int64_t rows) {
    Extents list(static_cast<std::size_t>(count));
    for (auto& row : list) row = draw(random, 0, rows - 1);
    return list;
}

std::int64_t random_itemsize(std::mt19937_64& random) {
    const std::int64_t ordinary[] = {1, 2, 4, 8, 16};
    return draw(random, 0, 2) == 0 ? draw(random, 1, 70) : ordinary[draw(random, 0, 4)];
}

TEST(Rows, taken_and_put_by_the_definition) {
    std::mt19937_64 random(21);
    for (int round = 0; round < by_watch(4000, 400); ++round) {
        const bool take = draw(random, 0, 1) == 1;
        const std::int64_t rows = draw(random, 1, 40), columns = draw(random, 0, 20),
                           count = draw(random, 0, 60), itemsize = random_itemsize(random);
        const Extents list = random_rows(random, count, rows);
        Guarded listed(random, rows, columns, itemsize), other(random, count, columns, itemsize);
        Guarded &from = take ? listed : other, &to = take ? other : listed;
        Bytes expected = to.memory;
        const Bytes source = from.memory;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = list[static_cast<std::size_t>(i)];
            naive_copy({columns}, itemsize, source, from.row(take ? row : i), expected,
                       to.row(take ? i : row));
        }
        (take ? take_rows : put_rows)(from.data(), from.form, list, itemsize, to.data(), to.form);
        ASSERT_TRUE(to.memory == expected) << rows << " x " << columns << ", " << count << " of "
                                           << itemsize << " bytes, " << (take ? "take" : "put");
        ASSERT_TRUE(from.memory == source);
    }
}

TEST(Rows, exchanged_one_pair_after_the_other) {
    std::mt19937_64 random(22);
    for (int round = 0; round < by_watch(3000, 300); ++round) {
        const std::int64_t rows = draw(random, 1, 40), columns = draw(random, 0, 20),
                           count = draw(random, 0, 60), itemsize = random_itemsize(random);
        const Extents first = random_rows(random, count, rows),
                      second = random_rows(random, count, rows);
        Guarded matrix(random, rows, columns, itemsize);
        Bytes expected = matrix.memory;
        for (std::size_t i = 0; i < first.size(); ++i) {
            const Place a = matrix.row(first[i]), b = matrix.row(second[i]);
            const Bytes before = expected;
            naive_copy({columns}, itemsize, before, a, expected, b);
            naive_copy({columns}, itemsize, before, b, expected, a);
        }
        swap_rows(matrix.data(), matrix.form, first, second, itemsize);
        ASSERT_TRUE(matrix.memory == expected)
            << rows << " x " << columns << ", " << count << " of " << itemsize << " bytes";
    }
}

TEST(Rows, column_major_matrices_of_pages) {
    std::mt19937_64 random(23);
    const std::int64_t rows = 3000, columns = 70, leading = 3001, count = 512;
    const MatrixForm form{rows, columns, 8, leading * 8}, dense{count, columns, 8, count * 8};
    const Bytes source = random_bytes(random, leading * columns * 8);
    Bytes taken(static_cast<std::size_t>(count * columns * 8));
    const Extents list = random_rows(random, count, rows);
    take_rows(source.data(), form, list, 8, taken.data(), dense);
    Bytes back = source, expected = source;
    for (std::int64_t i = 0; i < count; ++i)
        naive_copy({columns}, 8, source,
                   {{leading * 8}, list[static_cast<std::size_t>(i)] * 8, leading * columns * 8},
                   expected, {{leading * 8}, i * 8, leading * columns * 8});
    Extents top(static_cast<std::size_t>(count));
    std::iota(top.begin(), top.end(), 0);
    put_rows(taken.data(), dense, top, 8, back.data(), form);
    EXPECT_TRUE(back == expected);
}

TEST(Rows, refused_before_anything_moves) {
    Bytes memory(800, std::byte{5}), other(800, std::byte{6});
    const Bytes before = memory;
    const MatrixForm ten{10, 10, 8, 80}, three{3, 10, 8, 24};
    const auto refused = [&](auto call, const std::string& word) {
        try {
            call();
            ADD_FAILURE() << "accepted; should name " << word;
        } catch (const hocket::Error& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
        EXPECT_TRUE(memory == before);
    };
    const auto put = [&](const MatrixForm& from, const Extents& rows, std::int64_t itemsize,
                         const MatrixForm& to) {
        return [&, from, rows, itemsize, to] {
            put_rows(other.data(), from, rows, itemsize, memory.data(), to);
        };
    };
    refused(put(three, {0, 1, 10}, 8, ten), "entry 2 of the list is row 10");
    refused(put(three, {0, -1, 1}, 8, ten), "row -1");
    refused(put(three, {0, 1}, 8, ten), "2 rows of 10 columns");
    refused(put({3, 9, 8, 24}, {0, 1, 2}, 8, ten), "3 rows of 9 columns");
    refused(put(three, {0, 1, 2}, 0, ten), "not 0");
    refused(put({-3, 10, 8, 24}, {}, 8, ten), "-3 rows");
    refused(
        [&] {
            take_rows(other.data(), ten, Extents{7, 11, 2}, 8, memory.data(), three);
        },
        "the source has 10 rows");
    const auto swap = [&](const Extents& first, const Extents& second) {
        return [&, first, second] { swap_rows(memory.data(), ten, first, second, 8); };
    };
    refused(swap({1}, {10}), "row 10");
    refused(swap({1, 2}, {3}), "2 rows, the second 1");
    put_rows(nullptr, {0, 10, 8, 0}, Extents{}, 8, memory.data(), ten);
    take_rows(memory.data(), {10, 0, 8, 80}, Extents{3, 4}, 8, nullptr, {2, 0, 8, 16});
    swap_rows(memory.data(), ten, Extents{4}, Extents{4}, 8);
    EXPECT_TRUE(memory == before);
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
#include "team/fold.hpp"

#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/fold.hpp"

namespace hocket::team {
namespace {

template <class Op, class T>
std::uint64_t folded_bits(std::uint64_t a, std::uint64_t b) {
    return bits_of(Op::of(value_of<T>(a), value_of<T>(b)));
}

template <class Op, class T>
constexpr Fold entry() {
    constexpr bool of_bits = std::is_same_v<Op, fold::And> || std::is_same_v<Op, fold::Or>;
    if constexpr (of_bits && std::is_floating_point_v<T>)
        return nullptr;
    else
        return folded_bits<Op, T>;
}

template <class Op>
constexpr std::array<Fold, types> row() {
    return {entry<Op, bool>(),          entry<Op, std::int8_t>(),   entry<Op, std::int16_t>(),
            entry<Op, std::int32_t>(),  entry<Op, std::int64_t>(),  entry<Op, std::uint8_t>(),
            entry<Op, std::uint16_t>(), entry<Op, std::uint32_t>(), entry<Op, std::uint64_t>(),
            entry<Op, float>(),         entry<Op, double>()};
}
// In the order of the operations' names: add mul min max and or.
constexpr std::array table = {row<fold::Add>(), row<fold::Mul>(), row<fold::Min>(),
                              row<fold::Max>(), row<fold::And>(), row<fold::Or>()};

template <class T>
int compared(std::uint64_t a, std::uint64_t b) {
    const T x = value_of<T>(a), y = value_of<T>(b);
    if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(x) || std::isnan(y))
            return (std::isnan(x) ? 1 : 0) - (std::isnan(y) ? 1 : 0);
    return x < y ? -1 : y < x ? 1 : 0;
}
using Compare = int (*)(std::uint64_t, std::uint64_t);
constexpr std::array<Compare, types> comparisons = {
    compared<bool>,          compared<std::int8_t>,   compared<std::int16_t>,
    compared<std::int32_t>,  compared<std::int64_t>,  compared<std::uint8_t>,
    compared<std::uint16_t>, compared<std::uint32_t>, compared<std::uint64_t>,
    compared<float>,         compared<double>};

Compare comparison(Type type) {
    return comparisons[static_cast<std::size_t>(type)];
}

bool between(Op first, Op op, Op last) {
    return first <= op && op <= last;
}

}  // namespace

int bits_in(Type type) {
    constexpr std::array<int, types> widths = {1, 8, 16, 32, 64, 8, 16, 32, 64, 32, 64};
    return widths[static_cast<std::size_t>(type)];
}

const char* name_of(Type type) {
    constexpr std::array<const char*, types> names = {"bool",   "int8",    "int16",  "int32",
                                                      "int64",  "uint8",   "uint16", "uint32",
                                                      "uint64", "float32", "float64"};
    const auto number = static_cast<std::size_t>(type);
    return number < names.size() ? names[number] : "another type";
}

const char* name_of(Op op) {
    constexpr std::array names = {
        "wait",      "waitvec",    "any",        "all",        "putget",      "gather",
        "bcast",     "reduce_add", "reduce_mul", "reduce_min", "reduce_max",  "reduce_and",
        "reduce_or", "scan_add",   "scan_mul",   "scan_min",   "scan_max",    "scan_and",
        "scan_or",   "rank",       "vote_count", "vote",       "match_count", "match",
        "reduce",    "start"};
    static_assert(names.size() == static_cast<std::size_t>(Op::start) + 1);
    const auto number = static_cast<std::size_t>(op);
    return number < names.size() ? names[number] : "another operation";
}

bool needs_all(Op op) {
    return op == Op::putget || op == Op::gather || between(Op::rank, op, Op::reduce);
}

bool scans(Op op) {
    return between(Op::scan_add, op, Op::scan_or);
}

Fold fold_of(Op op, Type type) {
    const auto column = static_cast<std::size_t>(type);
    if (op == Op::all) return table[4][column];
    if (op == Op::wait || op == Op::any) return table[5][column];
    // These operations combine bits, whatever the type.
    if (op == Op::bcast || op == Op::waitvec)
        return table[5][static_cast<std::size_t>(Type::uint64)];
    if (between(Op::reduce_add, op, Op::reduce_or))
        return table[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::reduce_add)]
                    [column];
    if (scans(op))
        return table[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::scan_add)][column];
    return nullptr;
}

std::uint64_t result_of(Op op, Type type, std::span<const std::uint64_t> values, std::size_t me,
                        std::size_t source) {
    if (op == Op::wait) return 0;
    if (op == Op::putget) return values[source];
    if (const Fold fold = fold_of(op, type); fold != nullptr) {
        const std::size_t end = scans(op) ? me + 1 : values.size();
        std::uint64_t result = values[0];
        for (std::size_t i = 1; i < end; ++i) result = fold(result, values[i]);
        return result;
    }
    std::uint64_t count = 0;
    if (op == Op::rank) {
        const Compare compare = comparison(type);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int order = compare(values[i], values[me]);
            if (order < 0 || (order == 0 && i < me)) ++count;
        }
    } else if (op == Op::vote_count) {
        for (const std::uint64_t vote : values)
            if (vote == source) ++count;
    } else if (op == Op::match_count) {
        const Compare compare = comparison(type);
        for (const std::uint64_t value : values)
            if (compare(value, values[me]) == 0) ++count;
    }
    return count;
}

bool chosen(Op op, Type type, std::uint64_t value, std::uint64_t mine, int me) {
    if (op == Op::waitvec) return value != 0;
    if (op == Op::vote) return value == static_cast<std::uint64_t>(me);
    return comparison(type)(value, mine) == 0;
}

}  // namespace hocket::team

// SPDX-License-Identifier: BSD-3-Clause
#include "column.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "../model.hpp"

namespace linpack {
namespace {

// Magnitudes are in the order of their bits.
constexpr std::int64_t magnitude = std::numeric_limits<std::int64_t>::max();

struct Work {
    Block columns;
    const double* row;
    double factor;  // of the multipliers
};

// Registers of so many numbers: the compiler keeps wider ones than the processor has in memory.
template <int lanes>
struct Registers;

template <>
struct Registers<2> {
    using Numbers = double __attribute__((vector_size(16)));
    using Bits = std::int64_t __attribute__((vector_size(16)));
};

template <>
struct Registers<4> {
    using Numbers = double __attribute__((vector_size(32)));
    using Bits = std::int64_t __attribute__((vector_size(32)));
};

template <>
struct Registers<8> {
    using Numbers = double __attribute__((vector_size(64)));
    using Bits = std::int64_t __attribute__((vector_size(64)));
};

template <int lanes>
struct Loops {
    using Numbers = typename Registers<lanes>::Numbers;
    using Bits = typename Registers<lanes>::Bits;

    // A number of rows that is known to the compiler, so that the last column stays in registers.
    template <int vectors>
    [[gnu::always_inline]] static inline void eliminate_rows(const Work& work, std::int64_t first,
                                                             Bits& most) {
        const std::int64_t before = work.columns.columns - 1, stride = work.columns.stride;
        const double *const row = work.row, factor = work.factor;
        double* place = work.columns.data + first;
        double* const last = place + before * stride;
        Numbers numbers[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
            std::memcpy(&numbers[v], last + v * lanes, sizeof numbers[v]);
        for (std::int64_t k = 0; k + 1 < before; ++k, place += stride) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                Numbers multipliers;
                std::memcpy(&multipliers, place + v * lanes, sizeof multipliers);
                numbers[v] -= multipliers * row[k];
            }
        }
        if (before > 0) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                Numbers multipliers;
                std::memcpy(&multipliers, place + v * lanes, sizeof multipliers);
                multipliers *= factor;
                std::memcpy(place + v * lanes, &multipliers, sizeof multipliers);
                numbers[v] -= multipliers * row[before - 1];
                std::memcpy(last + v * lanes, &numbers[v], sizeof numbers[v]);
            }
        }
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            Bits bits;
            std::memcpy(&bits, &numbers[v], sizeof bits);
            bits &= magnitude;
            most = bits > most ? bits : most;
        }
    }

    [[gnu::always_inline]] static inline double eliminate_all(const Work& work) {
        constexpr int vectors = lanes > 2 ? 32 / lanes : 8;
        const std::int64_t rows = work.columns.rows, before = work.columns.columns - 1;
        Bits most{};
        std::int64_t i = 0;
        for (; i + vectors * lanes <= rows; i += vectors * lanes)
            eliminate_rows<vectors>(work, i, most);
        for (; i + lanes <= rows; i += lanes) eliminate_rows<1>(work, i, most);
        std::int64_t largest = 0;
        for (std::int64_t lane = 0; lane < lanes; ++lane) largest = std::max(largest, most[lane]);
        for (; i < rows; ++i) {
            if (before > 0) work.columns.at(i, before - 1) *= work.factor;
            double& last = work.columns.at(i, before);
            for (std::int64_t k = 0; k < before; ++k) last -= work.columns.at(i, k) * work.row[k];
            largest = std::max(largest, std::bit_cast<std::int64_t>(last) & magnitude);
        }
        return std::bit_cast<double>(largest);
    }

    [[gnu::always_inline]] static inline std::int64_t find_first(const Block& column,
                                                                 std::int64_t wanted,
                                                                 std::int64_t from) {
        constexpr std::int64_t together = 32;
        for (std::int64_t i = from; i < column.rows;) {
            const std::int64_t end = std::min(i + together, column.rows);
            bool found = end - i < together;
            if (!found) {
                Bits differ = Bits{} - 1;
#pragma GCC unroll 8
                for (std::int64_t k = 0; k < together; k += lanes) {
                    Bits bits;
                    std::memcpy(&bits, column.data + i + k, sizeof bits);
                    differ &= (bits & magnitude) != wanted;
                }
                for (std::int64_t lane = 0; lane < lanes; ++lane) found |= differ[lane] == 0;
            }
            for (; found && i < end; ++i)
                if ((std::bit_cast<std::int64_t>(column.data[i]) & magnitude) == wanted) return i;
            i = end;
        }
        return column.rows;
    }

    [[gnu::always_inline]] static inline void invert_all(const Block& l) {
        for (std::int64_t j = l.rows - 2; j >= 0; --j) {
            // Minus the inverse of the columns right of it times this one, from below, because its
            // rows above are still needed.
            double* const x = &l.at(0, j);
            const auto add_products = [&](double* sums, std::int64_t first, std::int64_t end) {
                for (std::int64_t k = end - 2; k >= first; --k)
                    for (std::int64_t i = k + 1; i < end; ++i) sums[i - first] += l.at(i, k) * x[k];
            };
            std::int64_t i = l.rows - lanes;
            for (; i > j; i -= lanes) {
                Numbers sums, others;
                std::memcpy(&sums, x + i, sizeof sums);
                for (std::int64_t k = j + 1; k < i; ++k) {
                    std::memcpy(&others, &l.at(i, k), sizeof others);
                    sums += others * x[k];
                }
                double each[lanes];
                std::memcpy(each, &sums, sizeof each);
                add_products(each, i, i + lanes);
                for (std::int64_t lane = 0; lane < lanes; ++lane) x[i + lane] = -each[lane];
            }
            add_products(x + j + 1, j + 1, i + lanes);
            for (std::int64_t k = j + 1; k < i + lanes; ++k) x[k] = -x[k];
        }
    }
};

struct Functions {
    void (*invert)(const Block& l);
    double (*eliminate)(const Work& work);
    std::int64_t (*find)(const Block& column, std::int64_t wanted, std::int64_t from);
};

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute cannot be in parentheses
#define HOCKET_FUNCTIONS(name, lanes, attribute)                                 \
    attribute double eliminate_##name(const Work& work) {                        \
        return Loops<lanes>::eliminate_all(work);                                \
    }                                                                            \
    attribute std::int64_t find_##name(const Block& column, std::int64_t wanted, \
                                       std::int64_t from) {                      \
        return Loops<lanes>::find_first(column, wanted, from);                   \
    }                                                                            \
    attribute void invert_##name(const Block& l) {                               \
        Loops<lanes>::invert_all(l);                                             \
    }                                                                            \
    constexpr Functions name = {invert_##name, eliminate_##name, find_##name};

// NOLINTEND(bugprone-macro-parentheses)
HOCKET_FUNCTIONS(portable, 2, )
#if defined(__x86_64__)
HOCKET_FUNCTIONS(avx2, 4, __attribute__((target("avx2,fma"))))
HOCKET_FUNCTIONS(avx512, 8, __attribute__((target("avx512f,avx512dq,fma"))))
#endif
#undef HOCKET_FUNCTIONS

// HOCKET_CPU lowers the level, as in the library.
const Functions& functions_of_processor() {
#if defined(__x86_64__)
    const char* const given = std::getenv("HOCKET_CPU");
    const std::string_view most = given != nullptr && *given != 0 ? given : "avx512";
    if (most != "portable" && __builtin_cpu_supports("fma")) {
        if (most == "avx512" && __builtin_cpu_supports("avx512dq")) return avx512;
        if (__builtin_cpu_supports("avx2")) return avx2;
    }
#endif
    return portable;
}

const Functions& functions() {
    static const Functions& found = functions_of_processor();
    return found;
}

// As LAPACK: a product takes a tenth of a division, whose result may be NaN.
bool has_inverse(double pivot) {
    return std::fabs(pivot) >= std::numeric_limits<double>::min();
}

}  // namespace

double eliminate_last(const Block& columns, double pivot, const double* row) {
    double factor = 1;
    if (columns.columns > 1) {
        if (has_inverse(pivot))
            factor = 1 / pivot;
        else
            divide(columns.part(0, columns.columns - 2, columns.rows, 1), pivot);
    }
    return functions().eliminate({columns, row, factor});
}

void divide(const Block& column, double pivot) {
    if (pivot == 0) return;  // so are all
    if (has_inverse(pivot)) {
        const double factor = 1 / pivot;
        for (std::int64_t i = 0; i < column.rows; ++i) column.data[i] *= factor;
    } else {
        for (std::int64_t i = 0; i < column.rows; ++i) column.data[i] /= pivot;
    }
}

void invert_lower(const Block& l) {
    const std::int64_t operations = l.rows * l.rows * (l.rows / 3);
    if (apps::modelled(apps::Work::blas, static_cast<double>(operations))) return;
    functions().invert(l);
}

std::int64_t row_with(const Block& column, double value, std::int64_t from) {
    return functions().find(column, std::bit_cast<std::int64_t>(value) & magnitude, from);
}

}  // namespace linpack

// SPDX-License-Identifier: BSD-3-Clause
// By BLAS's Fortran interface, which every implementation has. PyPI's scipy-openblas64 writes its
// names as scipy_dgemm_64_ and counts in 64 bits; a system's library as dgemm_, in 32.
#include "blas.hpp"

#include <algorithm>
#include <limits>

#include "../model.hpp"
#include "hocket/error.hpp"
#include "hocket/kernel.hpp"
#include "hocket/rows.hpp"

#ifdef HOCKET_SCIPY_OPENBLAS
#define HOCKET_BLAS(name) scipy_##name##_64_
using Integer = std::int64_t;
#else
#define HOCKET_BLAS(name) name##_
using Integer = int;
#endif

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): BLAS's names
void HOCKET_BLAS(dgemm)(const char* transa, const char* transb, const Integer* m, const Integer* n,
                        const Integer* k, const double* alpha, const double* a, const Integer* lda,
                        const double* b, const Integer* ldb, const double* beta, double* c,
                        const Integer* ldc);
void HOCKET_BLAS(dtrsm)(const char* side, const char* uplo, const char* transa, const char* diag,
                        const Integer* m, const Integer* n, const double* alpha, const double* a,
                        const Integer* lda, double* b, const Integer* ldb);
void HOCKET_BLAS(dtrmm)(const char* side, const char* uplo, const char* transa, const char* diag,
                        const Integer* m, const Integer* n, const double* alpha, const double* a,
                        const Integer* lda, double* b, const Integer* ldb);
#ifdef HOCKET_SCIPY_OPENBLAS
void scipy_openblas_set_num_threads64_(int threads);
#else
__attribute__((weak)) void openblas_set_num_threads(int threads);
#endif
// NOLINTEND(readability-identifier-naming)
}

namespace linpack {
namespace {

// For so many operations: a product of three numbers.
bool modelled(std::int64_t a, std::int64_t b, std::int64_t c) {
    return apps::modelled(apps::Work::blas,
                          static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c));
}

Integer whole(std::int64_t value) {
    if (value > std::numeric_limits<Integer>::max())
        throw hocket::Error("this BLAS counts in 32 bits, and cannot take an extent of " +
                            std::to_string(value) + "; install PyPI's scipy-openblas64");
    return static_cast<Integer>(value);
}

Integer leading(const Block& block) {
    return whole(std::max<std::int64_t>(1, block.stride));
}

hocket::kernel::MatrixForm form_of(const Block& block) {
    constexpr std::int64_t size = sizeof(double);
    return {block.rows, block.columns, size, block.stride * size};
}

void solve(const char* uplo, const char* diag, const Block& a, const Block& b) {
    if (b.rows == 0 || b.columns == 0 || modelled(b.rows, b.rows, b.columns)) return;
    const Integer m = whole(b.rows), n = whole(b.columns), lda = leading(a), ldb = leading(b);
    const double one = 1;
    HOCKET_BLAS(dtrsm)("L", uplo, "N", diag, &m, &n, &one, a.data, &lda, b.data, &ldb);
}

}  // namespace

void copy(const Block& from, const Block& to) {
    const auto bytes = static_cast<double>(2 * from.rows * from.columns * 8);
    if (apps::modelled(apps::Work::move, bytes)) return;
    constexpr std::int64_t size = sizeof(double);
    const std::int64_t extents[] = {from.columns, from.rows};
    const std::int64_t strides[] = {from.stride * size, size}, others[] = {to.stride * size, size};
    hocket::kernel::Copy(extents, size, strides, others).run(from.data, to.data);
}

void take_rows(const Block& from, Rows rows, const Block& to) {
    hocket::kernel::take_rows(from.data, form_of(from), rows, sizeof(double), to.data, form_of(to));
}

void put_rows(const Block& from, Rows rows, const Block& to) {
    hocket::kernel::put_rows(from.data, form_of(from), rows, sizeof(double), to.data, form_of(to));
}

void swap_rows(const Block& block, Rows first, Rows second) {
    hocket::kernel::swap_rows(block.data, form_of(block), first, second, sizeof(double));
}

void use_one_thread() {
#ifdef HOCKET_SCIPY_OPENBLAS
    scipy_openblas_set_num_threads64_(1);
#else
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
#endif
}

void multiply_lower(const Block& l, const Block& b) {
    if (b.rows == 0 || b.columns == 0 || modelled(b.rows, b.rows, b.columns)) return;
    const Integer m = whole(b.rows), n = whole(b.columns), ldl = leading(l), ldb = leading(b);
    const double one = 1;
    HOCKET_BLAS(dtrmm)("L", "L", "N", "U", &m, &n, &one, l.data, &ldl, b.data, &ldb);
}

void subtract_product(const Block& a, const Block& b, const Block& c) {
    if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
    if (modelled(2 * c.rows, c.columns, a.columns)) return;
    const Integer m = whole(c.rows), n = whole(c.columns), k = whole(a.columns);
    const Integer lda = leading(a), ldb = leading(b), ldc = leading(c);
    const double minus = -1, one = 1;
    HOCKET_BLAS(dgemm)
    ("N", "N", &m, &n, &k, &minus, a.data, &lda, b.data, &ldb, &one, c.data, &ldc);
}

void solve_lower(const Block& l, const Block& b) {
    solve("L", "U", l, b);
}

void solve_upper(const Block& u, const Block& b) {
    solve("U", "N", u, b);
}

}  // namespace linpack

// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/rows.hpp"

#include "handles.hpp"

using namespace hocket::c;
using hocket::kernel::MatrixForm;

namespace {

// Without elements there need not be an address.
MatrixForm form_of(const hocket_matrix_form* given, const char* name, const void* data,
                   const char* matrix) {
    const auto& [rows, columns, row_stride, column_stride] = required(given, name);
    if (rows > 0 && columns > 0) require(data, matrix);
    return {rows, columns, row_stride, column_stride};
}

}  // namespace

int hocket_take_rows(const void* source, const hocket_matrix_form* from, int64_t count,
                     const int64_t* rows, int64_t itemsize, void* destination,
                     const hocket_matrix_form* to) {
    return guard(__func__, [&] {
        hocket::kernel::take_rows(source, form_of(from, "from", source, "source"),
                                  list(count, rows, "rows", most_in_memory<int64_t>()), itemsize,
                                  destination, form_of(to, "to", destination, "destination"));
    });
}

int hocket_put_rows(const void* source, const hocket_matrix_form* from, int64_t count,
                    const int64_t* rows, int64_t itemsize, void* destination,
                    const hocket_matrix_form* to) {
    return guard(__func__, [&] {
        hocket::kernel::put_rows(source, form_of(from, "from", source, "source"),
                                 list(count, rows, "rows", most_in_memory<int64_t>()), itemsize,
                                 destination, form_of(to, "to", destination, "destination"));
    });
}

int hocket_swap_rows(void* matrix, const hocket_matrix_form* form, int64_t count,
                     const int64_t* first, const int64_t* second, int64_t itemsize) {
    return guard(__func__, [&] {
        hocket::kernel::swap_rows(matrix, form_of(form, "form", matrix, "matrix"),
                                  list(count, first, "first", most_in_memory<int64_t>()),
                                  list(count, second, "second", most_in_memory<int64_t>()),
                                  itemsize);
    });
}

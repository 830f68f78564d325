// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/computing.hpp"

#include <cstring>

#include "handles.hpp"

using namespace hocket::c;
using hocket::Array;
using hocket::Combine;
using hocket::ComputeOptions;

namespace {

ComputeOptions options_of(const hocket_compute_options* given, double timeout) {
    ComputeOptions options;
    options.deadline = deadline_of(timeout);
    if (given == nullptr) return options;
    if (given->first_index < INT32_MIN || given->first_index > INT32_MAX)
        throw ArgumentError("'first_index' is " + std::to_string(given->first_index) +
                            "; give 0, or 1 as in Fortran");
    if (given->dim != nullptr) {
        std::int64_t dim = 0;
        if (__builtin_sub_overflow(*given->dim, given->first_index, &dim))
            throw ArgumentError("'dim' is " + std::to_string(*given->dim) +
                                "; give the number of a dimension");
        options.dim = dim;
    }
    if (given->mask != nullptr) options.mask = behind(given->mask)->value;
    if (given->segment != nullptr) options.segment = behind(given->segment)->value;
    if (given->shifts != nullptr) options.shifts = behind(given->shifts)->value;
    options.exclusive = given->exclusive;
    options.suffix = given->suffix;
    options.descending = given->descending;
    if (given->column_major) options.order = hocket::Order::column_major;
    options.first_index = given->first_index;
    return options;
}

Combine combine_of(int op) {
    if (op < 0 || op > HOCKET_REPLACE)
        throw ArgumentError("'op' is " + std::to_string(op) +
                            "; give one of enum hocket_combine, HOCKET_SUM to HOCKET_REPLACE");
    return static_cast<Combine>(op);
}

// A collective call over the communicator of `array`: where `arguments` throws here, it raises on
// every process; else `body` makes the result of them.
template <class Arguments, class Body>
int compute(const char* function, const hocket_array* array, hocket_array** result,
            Arguments arguments, Body body) {
    return guard(function, [&] {
        const Array first = behind(array)->value;
        const auto given = arguments_of(
            function,
            [&] {
                require(result, "result");
                return arguments();
            },
            [&](const std::string& message) {
                hocket::Binding::refuse(first.comm(), argument_error, message);
            });
        give(result, body(first, given));
    });
}

struct WithOp {
    Combine op;
    ComputeOptions options;
};

struct WithArrays {
    std::vector<Array> arrays;
    ComputeOptions options;
};

}  // namespace

int hocket_reduce(const hocket_array* array, int op, const hocket_compute_options* options,
                  double timeout, hocket_array** result) {
    return compute(
        __func__, array, result,
        [&] {
            return WithOp{combine_of(op), options_of(options, timeout)};
        },
        [](const Array& a, const WithOp& with) { return reduce(a, with.op, with.options); });
}

int hocket_locate(const hocket_array* array, int op, const hocket_compute_options* options,
                  double timeout, hocket_array** result) {
    return compute(
        __func__, array, result,
        [&] {
            return WithOp{combine_of(op), options_of(options, timeout)};
        },
        [](const Array& a, const WithOp& with) { return locate(a, with.op, with.options); });
}

int hocket_scan(const hocket_array* array, int op, const hocket_compute_options* options,
                double timeout, hocket_array** result) {
    return compute(
        __func__, array, result,
        [&] {
            return WithOp{combine_of(op), options_of(options, timeout)};
        },
        [](const Array& a, const WithOp& with) { return scan(a, with.op, with.options); });
}

int hocket_dot_product(const hocket_array* a, const hocket_array* b, double timeout,
                       hocket_array** result) {
    return compute(
        __func__, a, result,
        [&] {
            return WithArrays{{behind(b)->value}, options_of(nullptr, timeout)};
        },
        [](const Array& x, const WithArrays& with) {
            return dot_product(x, with.arrays[0], with.options);
        });
}

int hocket_matmul(const hocket_array* a, const hocket_array* b,
                  void (*multiply)(int64_t m, int64_t n, int64_t k, const void* a, const void* b,
                                   void* c),
                  const hocket_compute_options* options, double timeout, hocket_array** result) {
    return compute(
        __func__, a, result,
        [&] {
            return WithArrays{{behind(b)->value}, options_of(options, timeout)};
        },
        [&](const Array& x, const WithArrays& with) {
            hocket::Multiply own;
            if (multiply != nullptr) own = multiply;
            return matmul(x, with.arrays[0], with.options, own);
        });
}

int hocket_cshift(const hocket_array* array, int64_t shift, const hocket_compute_options* options,
                  double timeout, hocket_array** result) {
    return compute(
        __func__, array, result, [&] { return options_of(options, timeout); },
        [&](const Array& a, const ComputeOptions& with) { return cshift(a, shift, with); });
}

int hocket_eoshift(const hocket_array* array, int64_t shift, const void* boundary,
                   const hocket_compute_options* options, double timeout, hocket_array** result) {
    return compute(
        __func__, array, result, [&] { return options_of(options, timeout); },
        [&](const Array& a, const ComputeOptions& with) {
            return eoshift(a, shift, boundary, with);
        });
}

int hocket_assign(hocket_array* destination, const hocket_array* source, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const Array into = behind(destination)->value;
        const auto given = arguments_of(
            function,
            [&] {
                return WithArrays{{behind(source)->value}, options_of(nullptr, timeout)};
            },
            [&](const std::string& message) {
                hocket::Binding::refuse(into.comm(), argument_error, message);
            });
        assign(into, given.arrays[0], given.options.deadline);
    });
}

int hocket_merge(const hocket_array* yes, const hocket_array* no, const hocket_array* mask,
                 const hocket_compute_options* options, double timeout, hocket_array** result) {
    return compute(
        __func__, yes, result,
        [&] {
            return WithArrays{{behind(no)->value, behind(mask)->value},
                              options_of(options, timeout)};
        },
        [](const Array& a, const WithArrays& with) {
            return merge(a, with.arrays[0], with.arrays[1], with.options);
        });
}

int hocket_pack(const hocket_array* array, const hocket_array* mask, const hocket_array* vector,
                const hocket_compute_options* options, double timeout, hocket_array** result) {
    return compute(
        __func__, array, result,
        [&] {
            WithArrays with{{behind(mask)->value}, options_of(options, timeout)};
            if (vector != nullptr) with.arrays.push_back(behind(vector)->value);
            return with;
        },
        [](const Array& a, const WithArrays& with) {
            std::optional<Array> pad;
            if (with.arrays.size() > 1) pad = with.arrays[1];
            return pack(a, with.arrays[0], with.options, pad);
        });
}

int hocket_unpack(const hocket_array* vector, const hocket_array* mask, const hocket_array* field,
                  const hocket_compute_options* options, double timeout, hocket_array** result) {
    return compute(
        __func__, vector, result,
        [&] {
            return WithArrays{{behind(mask)->value, behind(field)->value},
                              options_of(options, timeout)};
        },
        [](const Array& a, const WithArrays& with) {
            return unpack(a, with.arrays[0], with.arrays[1], with.options);
        });
}

int hocket_spread(const hocket_array* array, int64_t copies, const hocket_compute_options* options,
                  double timeout, hocket_array** result) {
    return compute(
        __func__, array, result, [&] { return options_of(options, timeout); },
        [&](const Array& a, const ComputeOptions& with) { return spread(a, copies, with); });
}

int hocket_transpose(const hocket_array* array, hocket_array** result) {
    return guard(__func__, [&] { give(result, transpose(behind(array)->value)); });
}

int hocket_scatter_combine(const hocket_array* base, const hocket_array* values, int64_t count,
                           const hocket_array* const* indices, int op,
                           const hocket_compute_options* options, double timeout,
                           hocket_array** result) {
    return compute(
        __func__, base, result,
        [&] {
            WithArrays with{{behind(values)->value}, options_of(options, timeout)};
            for (const hocket_array* index : by_dimension(count, indices, "indices"))
                with.arrays.push_back(behind(index)->value);
            static_cast<void>(combine_of(op));
            return with;
        },
        [&](const Array& a, const WithArrays& with) {
            return scatter_combine(a, with.arrays[0], std::span(with.arrays).subspan(1),
                                   combine_of(op), with.options);
        });
}

int hocket_grade(const hocket_array* array, const hocket_compute_options* options, double timeout,
                 hocket_array** result) {
    return compute(
        __func__, array, result, [&] { return options_of(options, timeout); },
        [](const Array& a, const ComputeOptions& with) { return grade(a, with); });
}

int hocket_random_uniform(hocket_array* array, uint64_t seed, double low, double high) {
    return guard(__func__, [&] { random_uniform(behind(array)->value, seed, low, high); });
}

int hocket_random_normal(hocket_array* array, uint64_t seed, double mean, double deviation) {
    return guard(__func__, [&] { random_normal(behind(array)->value, seed, mean, deviation); });
}

int hocket_random_integers(hocket_array* array, uint64_t seed, int64_t low, int64_t high) {
    return guard(__func__, [&] { random_integers(behind(array)->value, seed, low, high); });
}

int hocket_array_item(const hocket_array* array, const char* dtype, void* value) {
    return guard(__func__, [&] {
        const Array held = behind(array)->value;
        require(value, "value");
        const std::string name = text_of(dtype, "dtype");
        if (!held.layout().shape().empty())
            throw ArgumentError("the array has " + std::to_string(held.layout().dimensions()) +
                                " dimensions; give one of shape ()");
        if (held.dtype().name != name)
            throw hocket::MismatchError("the array holds " + held.dtype().name + ", not " + name);
        if (held.process() < 0) throw hocket::Error("this process does not hold the element");
        std::memcpy(value, held.data(), static_cast<std::size_t>(held.dtype().size));
    });
}

int hocket_array_global_indices(const hocket_array* array, int64_t dimension, int64_t capacity,
                                int64_t* values, int64_t* count) {
    return guard(__func__, [&] {
        write_list(hocket::global_indices(behind(array)->value, dimension), capacity, values,
                   count);
    });
}

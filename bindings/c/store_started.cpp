// SPDX-License-Identifier: BSD-3-Clause
// Started reads and writes of stores.
#include "handles.hpp"
#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "store_options.hpp"

using namespace hocket::c;

namespace {

struct Started {
    std::string name;
    hocket::Array array;
    hocket::StoreOptions options;
};

template <class Options>
Started started(const char* function, const hocket::Store& store, const char* name,
                const hocket_array* array, hocket_operation** operation, Options options) {
    return arguments_of(
        function,
        [&] {
            require(operation, "operation");
            return Started{text_of(name, "name"), behind(array)->value, options()};
        },
        [&](const std::string& message) {
            hocket::Binding::refuse(store.comm(), argument_error, message);
        });
}

hocket::StoreOptions defaults() {
    return {};
}

}  // namespace

int hocket_store_iwrite(hocket_store* store, const char* name, const hocket_array* array,
                        const hocket_write_options* options, hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = started(function, held->value, name, array, operation,
                                   [&] { return store_options_of(options); });
        give(operation, held->value.iwrite(given.name, given.array, given.options));
    });
}

int hocket_store_iread(hocket_store* store, const char* name, hocket_array* array,
                       const hocket_read_options* options, hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = started(function, held->value, name, array, operation,
                                   [&] { return store_options_of(options); });
        give(operation, held->value.iread(given.name, given.array, given.options));
    });
}

int hocket_store_write_later(hocket_store* store, const char* name, const hocket_array* array,
                             hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = started(function, held->value, name, array, operation, defaults);
        give(operation, held->value.write_later(given.name, given.array));
    });
}

int hocket_store_read_later(hocket_store* store, const char* name, hocket_array* array,
                            hocket_operation** operation) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(store);
        const auto given = started(function, held->value, name, array, operation, defaults);
        give(operation, held->value.read_later(given.name, given.array));
    });
}

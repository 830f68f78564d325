// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/halo.hpp"

#include "halo_make.hpp"
#include "handles.hpp"
#include "hocket/transfer.hpp"

using namespace hocket::c;

int hocket_halo_make(const hocket_array* array, const int64_t* width, const bool* periodic,
                     hocket_halo** halo) {
    return guard(__func__,
                 [&] { give(halo, halo_of(array, width, periodic, hocket::Order::row_major)); });
}

int hocket_halo_free(hocket_halo** halo) {
    return free_handle(__func__, halo);
}

int hocket_halo_array(const hocket_halo* halo, hocket_array** array) {
    return guard(__func__, [&] { give(array, behind(halo)->value.array()); });
}

int hocket_halo_width(const hocket_halo* halo, int64_t capacity, int64_t* values, int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(halo)->value.width(), capacity, values, count); });
}

int hocket_halo_edges(const hocket_halo* halo, int64_t dimension, bool* below, bool* above) {
    return guard(__func__, [&] {
        require(below, "below");
        require(above, "above");
        const auto edges = behind(halo)->value.edges(static_cast<std::size_t>(dimension));
        *below = edges.below;
        *above = edges.above;
    });
}

int hocket_halo_data(const hocket_halo* halo, void** data) {
    return guard(__func__, [&] { required(data, "data") = behind(halo)->value.data(); });
}

int hocket_halo_local_shape(const hocket_halo* halo, int64_t capacity, int64_t* values,
                            int64_t* count) {
    return guard(__func__,
                 [&] { write_list(behind(halo)->value.local_shape(), capacity, values, count); });
}

int hocket_halo_exchange(const hocket_halo* halo, double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(halo);
        const auto deadline = arguments_of(
            function, [&] { return deadline_of(timeout); },
            [&](const std::string& message) {
                hocket::Binding::refuse(held->value.array().comm(), argument_error, message);
            });
        held->value.exchange(deadline);
    });
}

int hocket_halo_iexchange(const hocket_halo* halo, bool later, hocket_operation** operation) {
    return guard(__func__, [&] {
        const auto held = behind(halo);
        require(operation, "operation");  // before the exchange starts
        give(operation, held->value.iexchange(later));
    });
}

// SPDX-License-Identifier: BSD-3-Clause
// Options of transfers, from C's arguments.
#pragma once

#include "hocket/hocket.h"
#include "hocket/transfer.hpp"

namespace hocket::c {

/// `options` may be NULL; for arrays with so many dimensions.
inline RedistributeOptions transfer_options_of(const hocket_transfer_options* options,
                                               std::size_t dimensions) {
    RedistributeOptions all;
    if (options == nullptr) return all;
    if (options->axes != nullptr) all.axes.assign(options->axes, options->axes + dimensions);
    if (options->strategy != nullptr) all.strategy = options->strategy;
    all.convert = options->convert;
    if (options->max_buffer != 0) all.max_buffer = options->max_buffer;
    return all;
}

}  // namespace hocket::c

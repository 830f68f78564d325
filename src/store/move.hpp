// SPDX-License-Identifier: BSD-3-Clause
// Between an array and a stored one.
#pragma once

#include <memory>
#include <string>

#include "hocket/store.hpp"
#include "store/session.hpp"
#include "zarr/metadata.hpp"

namespace hocket::store {

struct Move {
    std::shared_ptr<Session> session;
    std::string name;
    Array array;
    StoreOptions options;
    bool writing = false;
    bool appending = false;
};

/// The stored array with room for the array along its first dimension, and that as the region.
void grow(Move& move, zarr::Metadata& metadata);

/// Takes its place among the collective calls now. `later`: it begins when it is first polled.
std::shared_ptr<Operation> start(Move move, bool later = false);

}  // namespace hocket::store

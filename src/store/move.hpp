// SPDX-License-Identifier: BSD-3-Clause
// A move between an array and a stored array.
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

/// Extends the stored array by the array along its first dimension; the new part becomes the
/// region.
void grow(Move& move, zarr::Metadata& metadata);

/// Takes its position among the collective calls now. `later`: it begins at its first poll.
std::shared_ptr<Operation> start(Move move, bool later = false);

}  // namespace hocket::store

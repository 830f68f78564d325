// SPDX-License-Identifier: BSD-3-Clause
// How the two sides of a message want it to travel, and what comes of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/pack.hpp"
#include "comm/agree.hpp"

namespace hocket::task {

/// What a side leaves open is "auto" and 0.
struct RequestedOptions {
    std::string strategy = "auto";
    std::int64_t stages = 0, pieces = 0;
    std::string model;  // the sender's, as text; empty: the default

    void pack(Packer& out) const;
    static RequestedOptions unpacked(Unpacker& in);
    /// As a part of a call: ", strategy='staged', stages=2"; empty where all is open.
    std::string text() const;
    /// A wish as a process brings it. @throws LayoutError, Error for what cannot be.
    void check(std::size_t arrays) const;
};

/// The model by which a sender lets choose, as text: empty where there is no choice left, and for
/// the default. @throws Error where it cannot be read.
std::string model_text(const RequestedOptions& requested);

/// The wishes of the two sides as one, whose strategy may still be open. @throws MismatchError
/// naming both.
RequestedOptions negotiate(const RequestedOptions& sender, const std::string& sender_name,
                           const RequestedOptions& receiver, const std::string& receiver_name);

}  // namespace hocket::task

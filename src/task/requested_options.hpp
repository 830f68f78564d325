// SPDX-License-Identifier: BSD-3-Clause
// Requested and negotiated options of a message.
#pragma once

#include <cstdint>
#include <string>

#include "base/pack.hpp"
#include "comm/agree.hpp"

namespace hocket::task {

/// "auto" and 0 mean not set.
struct RequestedOptions {
    std::string strategy = "auto";
    std::int64_t stages = 0, pieces = 0;
    std::string model;  // the sender's, as text; empty: the default

    void pack(Packer& out) const;
    static RequestedOptions unpacked(Unpacker& in);
    /// For a call's signature: ", strategy='staged', stages=2"; empty if none is set.
    std::string text() const;
    /// Checks the options that this process passes. @throws LayoutError, Error for invalid ones.
    void check(std::size_t arrays) const;
};

/// The text of the model by which the sender's strategy is chosen: empty if the strategy is set,
/// and for the default model. @throws Error if the model is unreadable.
std::string model_text(const RequestedOptions& requested);

/// Combines both sides' options; the strategy may still be open. @throws MismatchError naming both
/// values.
RequestedOptions negotiate(const RequestedOptions& sender, const std::string& sender_name,
                           const RequestedOptions& receiver, const std::string& receiver_name);

}  // namespace hocket::task

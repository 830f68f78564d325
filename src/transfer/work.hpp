// SPDX-License-Identifier: BSD-3-Clause
// One process's part of a plan, made ready for arrays of given strides: which messages to send and
// receive, and the copies that pack, unpack and stay. Holds no buffer and no array.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/kernel.hpp"
#include "hocket/plan.hpp"
#include "transfer/near.hpp"

namespace hocket::transfer {

struct Piece {
    kernel::Copy copy;  // from the array to the buffer, or back
    std::int64_t array_offset, buffer_offset;
};

struct Message {
    std::int64_t peer;  // process of the other layout
    std::int64_t bytes;
    std::int64_t buffer_offset;
    std::vector<Piece> pieces;
    // The elements already lie together, in order, in the array: nothing is packed, the message
    // goes from or to the array at pieces[0].array_offset.
    bool in_place;
};

/// One side of a transfer as this process sees it.
struct Place {
    std::int64_t process = -1;  // in the layout of that side; -1: takes no part
    Shape strides;              // bytes
    bool dense = false;         // those of a dense row-major array
};
Place place_on(const Array& array);

class Work {
  public:
    /// @throws LayoutError as the plan does.
    Work(const Plan& plan, const Place& source, const Place& destination);

    std::vector<Message> sends, receives;              // in the order in which to start them
    Parts local;                                       // what stays on this process
    std::int64_t send_buffer = 0, receive_buffer = 0;  // bytes

    /// The same messages as they travel within a node, made at first use.
    const NearMessage& near_send(std::size_t i) const;
    const NearMessage& near_receive(std::size_t i) const;

  private:
    void add_message(const plan::Part& part, std::size_t peer, bool sending);
    const NearMessage& near(std::size_t i, bool sending) const;

    Plan plan_;
    Place source_, destination_;
    std::optional<plan::Part> source_part_, destination_part_;
    mutable std::vector<std::unique_ptr<NearMessage>> near_sends_, near_receives_;
};

/// From a bounded cache, keyed by value; `options` as for the plan.
std::shared_ptr<const Work> cached_work(const Layout& source_layout,
                                        const Layout& destination_layout,
                                        const plan::Options& options, const Place& source,
                                        const Place& destination);

}  // namespace hocket::transfer

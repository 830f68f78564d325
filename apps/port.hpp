// SPDX-License-Identifier: BSD-3-Clause
// One end of a stream of arrays between two tasks, with two arrays in turn, so that a task computes
// on one while the other travels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hocket/flow.hpp"
#include "hocket/task.hpp"

namespace apps {

class Port {
  public:
    enum class Way { out, in };

    /// `slots`: two arrays of one layout and type. Collective over the task.
    Port(hocket::Tasks world, Way way, int peer, int tag, std::vector<hocket::Array> slots,
         bool persistent)
        : world_(std::move(world)),
          out_(way == Way::out),
          persistent_(persistent),
          peer_(peer),
          tag_(tag),
          slots_(std::move(slots)) {
        for (std::size_t i = 0; persistent && i < slots_.size(); ++i)
            requests_[i] = out_ ? world_.send_init(slots_[i], peer, {.tag = tag})
                                : world_.recv_init(slots_[i], peer, {.tag = tag});
    }
    ~Port() {
        // After an error a request may still be under way, and cannot be freed.
        for (auto& request : requests_) try {
                if (persistent_) request.free();
            } catch (const hocket::Error&) {
            }
    }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    const hocket::Array& array(std::int64_t number) const { return slots_[at(number)]; }
    /// Starts the transfer of array `number` of the stream, which must not be touched until it has
    /// finished.
    void start(std::int64_t number) {
        auto& request = requests_[at(number)];
        if (persistent_)
            request.start();
        else
            request = out_ ? world_.isend(slots_[at(number)], peer_, {.tag = tag_})
                           : world_.irecv(slots_[at(number)], peer_, {.tag = tag_});
    }
    void finish(std::int64_t number) { requests_[at(number)].wait(); }

    /// The transfer of array `number` as a step of a flow, which accesses the array.
    void travel(hocket::Flow& flow, std::int64_t number) {
        if (out_)
            flow.send(world_, array(number), peer_, tag_, {.priority = 1});
        else
            flow.recv(world_, array(number), peer_, tag_, {.priority = 1});
    }

    /// For a stream of `count` arrays to send: waits until slot `number` may be filled.
    void free_slot(std::int64_t number) {
        if (number >= 2) finish(number - 2);
    }
    void finish_last(std::int64_t count) {
        for (auto number = count > 2 ? count - 2 : 0; number < count; ++number) finish(number);
    }
    /// For a stream of `count` arrays to receive: starts the first ones; starts the one after next,
    /// once `number` is used up.
    void start_first(std::int64_t count) {
        for (std::int64_t number = 0; number < 2 && number < count; ++number) start(number);
    }
    void used(std::int64_t number, std::int64_t count) {
        if (number + 2 < count) start(number + 2);
    }

  private:
    static std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number % 2); }

    hocket::Tasks world_;
    bool out_, persistent_;
    int peer_, tag_;
    std::vector<hocket::Array> slots_;
    std::array<hocket::Request, 2> requests_;
};

}  // namespace apps

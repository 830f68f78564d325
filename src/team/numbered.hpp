// SPDX-License-Identifier: BSD-3-Clause
// A team's reduction to its lowest process and broadcast from it, of texts, named by a number
// instead of by their order: many may be under way together, begin in any order on each process
// and end in any. That is what a task's processes need to agree on calls, where a receive may wait
// for long while later calls come and go; a round (round.hpp) is a barrier, and they would all wait
// with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/agree.hpp"

namespace hocket::team {

class Numbered final : public comm::Aggregates {
  public:
    /// One hand-off each way: everyone tells the lowest, who tells everyone.
    explicit Numbered(comm::Group group) : group_(std::move(group)) {}
    /// Whether it is for these: they share memory, and are not so many that one of them would be
    /// busy with the others.
    static bool serves(const comm::Group& group);

    comm::Protocol<std::string> fold(int number, std::string mine, comm::Merge merge) override;
    comm::Protocol<std::string> spread(int number, std::string text) override;

  private:
    comm::Protocol<> send(int number, const std::string& text, int first, int end);
    comm::Protocol<std::string> receive(int number, int member);
    comm::Group group_;
};

}  // namespace hocket::team

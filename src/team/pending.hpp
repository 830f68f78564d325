// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "team/round.hpp"

namespace hocket::team {

/// The implementation of TeamResult.
class Pending {
  public:
    std::shared_ptr<Round> round;
    std::shared_ptr<comm::Call> call;
    std::size_t source = 0;
};

}  // namespace hocket::team

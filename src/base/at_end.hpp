// SPDX-License-Identifier: BSD-3-Clause
// An action at the end of a scope, however the scope ends.
#pragma once

#include <utility>

namespace hocket::base {

template <class Action>
class AtEnd {
  public:
    explicit AtEnd(Action action) : action_(std::move(action)) {}
    ~AtEnd() { action_(); }
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;

  private:
    Action action_;
};

}  // namespace hocket::base

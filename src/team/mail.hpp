// SPDX-License-Identifier: BSD-3-Clause
// Texts that two processes of a node tell each other, each with a number by which it is asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/post.hpp"

namespace hocket::team {

/// This process's side of it. Texts go out in the order in which they are sent, and are taken in
/// any.
class Mail {
  public:
    Mail() = default;
    Mail(node::Post* out, node::Post* in) : out_(out), in_(in) {}
    bool open() const { return out_ != nullptr; }

    /// Gives what `gone` wants to know.
    std::uint64_t send(int number, const std::string& text);
    /// Whether all of it lies where the other process finds it, whatever becomes of this one.
    bool gone(std::uint64_t sent);
    /// The next text of that number that has come.
    std::optional<std::string> receive(int number);

  private:
    void push();
    void fetch();
    node::Post* out_ = nullptr;
    node::Post* in_ = nullptr;
    std::vector<std::uint64_t> leaving_, arriving_;  // words of texts, each behind its heading
    std::uint64_t sent_ = 0, gone_ = 0, read_ = 0;   // words
    std::size_t put_ = 0;                            // of `leaving_`, at its front
    std::map<int, std::deque<std::string>> here_;
};

}  // namespace hocket::team

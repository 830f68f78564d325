// SPDX-License-Identifier: BSD-3-Clause
// A protocol is a coroutine that is polled:
//
//     Protocol<int> greet(Link& link) {
//         int n = 0;
//         Requests requests;
//         link.receive(requests, &n, sizeof n, 0, tag);
//         co_await until(requests);
//         co_return n;
//     }
//
// Whoever polls the outermost protocol drives all that it awaits, in the polling thread. So a
// protocol never blocks, and needs no lock against itself.
#pragma once

#include <utility>

#include "hocket/coroutine.hpp"

namespace hocket::comm {

template <class T = void>
using Protocol = Coroutine<T>;
using coroutine::Condition;

inline coroutine::Until until(Condition& condition) {
    return coroutine::Until(condition);
}

/// Awaits a function that returns true: `When ready([&] { … }); co_await until(ready);`
template <class Function>
class When final : public Condition {
  public:
    explicit When(Function function) : function_(std::move(function)) {}
    bool holds() override { return function_(); }

  private:
    Function function_;
};

/// A protocol polled from outside.
template <class T>
class Driven {
  public:
    explicit Driven(Protocol<T> protocol) : protocol_(std::move(protocol)) {
        protocol_.begin(chain_);
    }
    Driven(const Driven&) = delete;
    Driven& operator=(const Driven&) = delete;

    /// True once the protocol has ended, by a result or by an exception.
    bool poll() {
        if (protocol_.done()) return true;
        if (!ready()) return false;
        resume();
        return protocol_.done();
    }
    /// Whether it may go on, without going on; and the going on.
    bool ready() { return chain_.ready(); }
    void resume() { chain_.innermost.resume(); }
    bool done() const { return protocol_.done(); }
    /// The condition that it waits for, or nullptr.
    Condition* blocked() const { return chain_.blocked; }
    /// The result; rethrows the exception. Only once `poll` was true, and only once.
    T take() { return protocol_.take(); }

  private:
    Protocol<T> protocol_;
    coroutine::Chain chain_;
};

}  // namespace hocket::comm

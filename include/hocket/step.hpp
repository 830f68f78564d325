// SPDX-License-Identifier: BSD-3-Clause
// Functions annotated once with the arguments that they read and write, as the pragmas of SMPSs do.
// Inside a flow every call is a step; outside of flows it is an ordinary call.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hocket/flow.hpp"

namespace hocket {

/// The access of a function to one of its arguments.
enum class Use { value, reads, writes, updates, commutes };

template <class Function>
class AnnotatedFunction {
  public:
    AnnotatedFunction(std::string name, Function function, std::vector<Use> uses, int priority,
                      bool communicates, int threads)
        : name_(std::move(name)),
          function_(std::move(function)),
          uses_(std::move(uses)),
          priority_(priority),
          communicates_(communicates),
          threads_(threads) {}

    /// Inserts a step with copies of the arguments if this thread is in a flow (Flow::current).
    /// Pass spans, pointers or handles, not containers. @throws Error for another number of
    /// arguments than annotated, and for an accessed argument that is no memory.
    template <class... Arguments>
    void operator()(Arguments... arguments) const {
        if (sizeof...(Arguments) != uses_.size())
            throw Error("step '" + name_ + "' was annotated with " + std::to_string(uses_.size()) +
                        " arguments, and is called with " + std::to_string(sizeof...(Arguments)));
        Flow* const flow = Flow::current();
        if (flow == nullptr) {
            flow::Operations started;
            flow::Here here(nullptr);
            flow::Body([&] { return function_(arguments...); })(here, started);
            flow::complete(started);
            return;
        }
        std::vector<Access> accesses;
        std::size_t i = 0;
        (add(accesses, i++, arguments), ...);
        flow->insert(flow::Body([function = function_, kept = std::tuple(arguments...)] {
                         return std::apply(function, kept);
                     }),
                     accesses, {priority_, name_, threads_}, communicates_);
    }

  private:
    template <class Argument>
    void add(std::vector<Access>& accesses, std::size_t i, const Argument& argument) const {
        if (uses_[i] == Use::value) return;
        if constexpr (std::is_convertible_v<const Argument&, Region>) {
            constexpr Access::Kind kinds[] = {Access::Kind::read, Access::Kind::read,
                                              Access::Kind::write, Access::Kind::update,
                                              Access::Kind::commute};
            accesses.push_back({kinds[static_cast<std::size_t>(uses_[i])], argument});
        } else {
            throw Error("argument " + std::to_string(i) + " of step '" + name_ +
                        "' is no memory (a span, an array, a Region), so it cannot be read or "
                        "written by a step; annotate it as a value");
        }
    }
    std::string name_;
    Function function_;
    std::vector<Use> uses_;
    int priority_;
    bool communicates_;
    int threads_;
};

/// `auto update = hocket::step("update", function, {Use::reads, Use::updates});` See StepOptions
/// for `threads`.
template <class Function>
AnnotatedFunction<std::decay_t<Function>> step(std::string name, Function&& function,
                                               std::vector<Use> uses, int priority = 0,
                                               int threads = 0) {
    return {std::move(name), std::forward<Function>(function), std::move(uses), priority, false,
            threads};
}

/// Annotates a function that communicates, as for Flow::comm. Outside of flows a call waits for its
/// operations.
template <class Function>
AnnotatedFunction<std::decay_t<Function>> comm_step(std::string name, Function&& function,
                                                    std::vector<Use> uses, int priority = 0,
                                                    int threads = 0) {
    return {std::move(name), std::forward<Function>(function), std::move(uses), priority, true,
            threads};
}

}  // namespace hocket

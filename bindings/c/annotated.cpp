// SPDX-License-Identifier: BSD-3-Clause
// Annotated functions: every call inside a flow is a step.
#include <functional>

#include "flow_access.hpp"
#include "hocket/flow.hpp"

using namespace hocket::c;
using hocket::Access;
using hocket::Flow;

namespace {

// An annotated function; the arguments of a call are addresses.
struct Annotated {
    std::string name;
    std::function<int(void* const* arguments, hocket_started* started)> function;
    std::vector<int> kinds;
    int priority;
    bool communicates;
    int threads = 0;

    hocket::flow::Operations start(const std::vector<void*>& arguments) const {
        hocket_started started;
        require_zero(function(arguments.data(), &started), "function");
        return std::move(started.operations);
    }
};

std::vector<int> uses_of(std::int64_t count, const int* kinds, bool communicates) {
    const auto uses = list(count, kinds, "kinds");
    for (const int kind : uses)
        if (kind < HOCKET_READS || kind > HOCKET_VALUE || kind == HOCKET_REDUCES ||
            (communicates && kind == HOCKET_COMMUTES))
            throw ArgumentError(std::string("an annotated function") +
                                (communicates ? " that communicates" : "") +
                                " cannot have arguments of kind " + std::to_string(kind));
    return {uses.begin(), uses.end()};
}

}  // namespace

namespace hocket::c {
template <>
struct Behind<hocket_annotated> {
    using Type = Annotated;
    static constexpr const char* noun = "annotated";
};
}  // namespace hocket::c

int hocket_annotated_make(const char* name, int (*function)(void* const* arguments), int64_t count,
                          const int* kinds, int priority, hocket_annotated** annotated) {
    return guard(__func__, [&] {
        require(annotated, "annotated");
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        const auto called = [function](void* const* arguments, hocket_started*) {
            return function(arguments);
        };
        give(annotated, Annotated{text_of(name, "name"), called, uses_of(count, kinds, false),
                                  priority, false});
    });
}

int hocket_annotated_make_comm(const char* name,
                               int (*function)(void* const* arguments, hocket_started* started),
                               int64_t count, const int* kinds, int priority,
                               hocket_annotated** annotated) {
    return guard(__func__, [&] {
        require(annotated, "annotated");
        if (function == nullptr) throw ArgumentError("'function' is NULL; give a function");
        give(annotated, Annotated{text_of(name, "name"), function, uses_of(count, kinds, true),
                                  priority, true});
    });
}

int hocket_annotated_call(const hocket_annotated* annotated, int64_t count,
                          const hocket_access* arguments) {
    return guard(__func__, [&] {
        const auto held = behind(annotated);
        const Annotated& called = held->value;
        const auto given = list(count, arguments, "arguments");
        if (given.size() != called.kinds.size())
            throw ArgumentError("step '" + called.name + "' was annotated with " +
                                std::to_string(called.kinds.size()) +
                                " arguments, and is called with " + std::to_string(count));
        std::vector<void*> addresses;
        std::vector<Access> accesses;
        for (std::size_t i = 0; i < given.size(); ++i) {
            addresses.push_back(const_cast<void*>(given[i].data));
            if (called.kinds[i] == HOCKET_VALUE) continue;
            hocket_access access = given[i];
            access.kind = called.kinds[i];
            accesses.push_back(access_of(access));
        }
        if (Flow* const flow = Flow::current()) {
            flow->insert(
                hocket::flow::Body([called, addresses] { return called.start(addresses); }),
                accesses, {called.priority, called.name, called.threads}, called.communicates);
            return;
        }
        for (const auto& operation : called.start(addresses)) hocket::wait(*operation);
    });
}

int hocket_annotated_step_threads(hocket_annotated* annotated, int threads) {
    return guard(__func__, [&] { behind(annotated)->value.threads = share_of(threads); });
}

int hocket_annotated_free(hocket_annotated** annotated) {
    return free_handle(__func__, annotated);
}

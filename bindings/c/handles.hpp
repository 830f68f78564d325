// SPDX-License-Identifier: BSD-3-Clause
// Handles. A handle is a number in a pointer type, which hocket never reuses and never
// dereferences. So hocket detects handles that were freed or are invalid, whatever the allocator
// does.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "guard.hpp"
#include "hocket/array.hpp"
#include "hocket/binding.hpp"
#include "hocket/flow.hpp"
#include "hocket/halo.hpp"
#include "hocket/kernel.hpp"
#include "hocket/layout.hpp"
#include "hocket/plan.hpp"
#include "hocket/port.hpp"
#include "hocket/store.hpp"
#include "hocket/task.hpp"
#include "hocket/team.hpp"
#include "hocket/transfer.hpp"

namespace hocket::c {

/// A plan, and the memory to which its boxes and its options point.
struct PlanWithBoxes {
    Plan plan;
    std::vector<std::vector<std::int64_t>> lists;
    hocket_model model;
};

/// The object of each kind of handle.
template <class Handle>
struct Behind;
template <>
struct Behind<hocket_layout> {
    using Type = Layout;
    static constexpr const char* noun = "layout";
};
template <>
struct Behind<hocket_plan> {
    using Type = PlanWithBoxes;
    static constexpr const char* noun = "plan";
};
template <>
struct Behind<hocket_array> {
    using Type = Array;
    static constexpr const char* noun = "array";
};
template <>
struct Behind<hocket_halo> {
    using Type = Halo;
    static constexpr const char* noun = "halo";
};
template <>
struct Behind<hocket_transfer> {
    using Type = Transfer;
    static constexpr const char* noun = "transfer";
};
template <>
struct Behind<hocket_tasks> {
    using Type = Tasks;
    static constexpr const char* noun = "tasks";
};
template <>
struct Behind<hocket_status> {
    using Type = Status;
    static constexpr const char* noun = "status";
};
template <>
struct Behind<hocket_request> {
    using Type = Request;
    static constexpr const char* noun = "request";
};
template <>
struct Behind<hocket_channel> {
    using Type = Channel;
    static constexpr const char* noun = "channel";
};
template <>
struct Behind<hocket_operation> {
    using Type = std::shared_ptr<Operation>;
    static constexpr const char* noun = "operation";
};
/// A flow, and the number of threads of steps inserted from now on.
struct FlowAndThreads {
    std::shared_ptr<Flow> flow;
    int threads = 0;
};
template <>
struct Behind<hocket_flow> {
    using Type = FlowAndThreads;
    static constexpr const char* noun = "flow";
};
template <>
struct Behind<hocket_copy> {
    using Type = kernel::Copy;
    static constexpr const char* noun = "copy";
};

template <>
struct Behind<hocket_store> {
    using Type = Store;
    static constexpr const char* noun = "store";
};
template <>
struct Behind<hocket_port> {
    using Type = Port;
    static constexpr const char* noun = "port";
};
template <>
struct Behind<hocket_observer> {
    using Type = Observer;
    static constexpr const char* noun = "observer";
};
template <>
struct Behind<hocket_team> {
    using Type = Team;
    static constexpr const char* noun = "team";
};
template <>
struct Behind<hocket_team_result> {
    using Type = TeamResult;
    static constexpr const char* noun = "result";
};

/// An object with its strings for the caller, which live as long.
template <class T>
class Held {
  public:
    explicit Held(T object) : value(std::move(object)) {}
    T value;

    /// Equal texts have one address.
    const char* keep(std::string text) {
        const std::lock_guard lock(mutex_);
        return texts_.try_emplace(std::move(text), 0).first->first.c_str();
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int> texts_;
};

// handles.cpp: all live handles, of any kind.
const void* enter(std::shared_ptr<void> object, const char* noun);
std::shared_ptr<void> find(const void* handle, const char* noun);
void leave(const void* handle, const char* noun);

/// A new handle on the object.
template <class Handle>
void give(Handle** handle, typename Behind<Handle>::Type object) {
    Handle*& place = required(handle, Behind<Handle>::noun);
    auto held = std::make_shared<Held<typename Behind<Handle>::Type>>(std::move(object));
    place = static_cast<Handle*>(const_cast<void*>(enter(std::move(held), Behind<Handle>::noun)));
}

/// The object of a handle; it lives as long as the result, even if another thread frees the handle.
/// @throws ArgumentError for NULL, freed handles, and handles of another kind.
template <class Handle>
std::shared_ptr<Held<typename Behind<Handle>::Type>> behind(const Handle* handle) {
    return std::static_pointer_cast<Held<typename Behind<Handle>::Type>>(
        find(handle, Behind<Handle>::noun));
}

template <class Handle>
int free_handle(const char* function, Handle** handle) noexcept {
    return guard(function, [&] {
        Handle*& place = required(handle, Behind<Handle>::noun);
        leave(place, Behind<Handle>::noun);
        place = nullptr;
    });
}

}  // namespace hocket::c

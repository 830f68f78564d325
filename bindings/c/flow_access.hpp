// SPDX-License-Identifier: BSD-3-Clause
// Accesses of a step of a flow, from C's arguments.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "handles.hpp"
#include "hocket/region.hpp"

struct hocket_started {
    hocket::flow::Operations operations;
};

namespace hocket::c {

inline void require_zero(int code, const char* what) {
    if (code != 0)
        throw hocket::Error(std::string("its ") + what + " returned " + std::to_string(code));
}

/// Threads of a step; 0: the flow's number.
inline int share_of(int threads) {
    if (threads < 0)
        throw ArgumentError("'threads' is " + std::to_string(threads) +
                            "; give 1 or more, or 0 for as many as the flow's options say");
    return threads;
}

inline Region region_of(const hocket_access& access) {
    if (access.key != nullptr) return Region::key(access.key);
    const auto extents = by_dimension(access.dimensions, access.extents, "extents");
    if (access.data == nullptr && access.bytes > 0 &&
        std::none_of(extents.begin(), extents.end(), [](auto extent) { return extent == 0; }))
        throw ArgumentError("an access has neither a 'key' nor 'data', but " +
                            std::to_string(access.bytes) + " bytes; give what the step touches");
    if (access.dimensions == 0) return {access.data, access.bytes};
    return {access.data, extents, by_dimension(access.dimensions, access.strides, "strides"),
            access.bytes};
}

/// The functions of a reduction; the access gives the number of bytes.
struct ReductionBy {
    std::string name;
    void (*fill)(void* context, void* part, std::int64_t bytes);
    void (*combine)(void* context, void* into, const void* part, std::int64_t bytes);
    void* context;
};
template <>
struct Behind<hocket_reduction> {
    using Type = ReductionBy;
    static constexpr const char* noun = "reduction";
};

inline std::shared_ptr<const Reduction> reduction_of(const hocket_access& access) {
    const auto by = behind(access.reduction)->value;
    return std::make_shared<const Reduction>(Reduction{
        by.name, [by](void* part, std::int64_t bytes) { by.fill(by.context, part, bytes); },
        [by](const Region& into, const void* part) {
            const auto* from = static_cast<const std::byte*>(part);
            into.each_run([&](void* at) {
                by.combine(by.context, at, from, into.run());
                from += into.run();
            });
        }});
}

inline Access access_of(const hocket_access& access) {
    if (access.kind == HOCKET_REDUCES) return reduces(region_of(access), reduction_of(access));
    if (access.kind < HOCKET_READS || access.kind > HOCKET_REDUCES)
        throw ArgumentError("a step's access is of kind " + std::to_string(access.kind) +
                            "; give HOCKET_READS, HOCKET_WRITES, HOCKET_UPDATES, …");
    return {static_cast<Access::Kind>(access.kind), region_of(access), {}};
}

inline std::vector<Access> accesses_of(std::int64_t count, const hocket_access* accesses) {
    std::vector<Access> out;
    for (const hocket_access& each : list(count, accesses, "accesses"))
        out.push_back(access_of(each));
    return out;
}

}  // namespace hocket::c

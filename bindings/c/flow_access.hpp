// SPDX-License-Identifier: BSD-3-Clause
// What a step of a flow touches, as C says it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "handles.hpp"
#include "hocket/region.hpp"

namespace hocket::c {

inline Region region_of(const hocket_access& access) {
    if (access.key != nullptr) return Region::key(access.key);
    if (access.dimensions == 0) return {access.data, access.bytes};
    return {access.data, list(access.dimensions, access.extents, "extents"),
            list(access.dimensions, access.strides, "strides"), access.bytes};
}

/// What a step's part is made with: the bytes come with the access.
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
    const std::int64_t bytes = access.bytes;
    return std::make_shared<const Reduction>(Reduction{
        by.name, [by, bytes](void* part) { by.fill(by.context, part, bytes); },
        [by, bytes](void* into, const void* part) { by.combine(by.context, into, part, bytes); }});
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

// SPDX-License-Identifier: BSD-3-Clause
#include "flow/recorder.hpp"

#include <algorithm>

namespace hocket::flow {

void Recorder::inserted(std::uint64_t number, const std::string& name, bool communicates,
                        std::vector<std::uint64_t> waits_for) {
    std::sort(waits_for.begin(), waits_for.end());
    waits_for.erase(std::unique(waits_for.begin(), waits_for.end()), waits_for.end());
    const std::lock_guard lock(guard_);
    if (nodes_.size() <= number) nodes_.resize(number + 1);
    Node& node = nodes_[number];
    node.name = name.empty() ? std::to_string(number) : name;
    node.communicates = communicates;
    node.waits_for = std::move(waits_for);
}

void Recorder::ran(std::uint64_t number, int worker, double begin, double end, bool failed) {
    const std::lock_guard lock(guard_);
    Node& node = nodes_[number];
    node.parts.push_back({worker, begin, end});
    node.failed = failed;
}

}  // namespace hocket::flow

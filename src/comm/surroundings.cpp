// SPDX-License-Identifier: BSD-3-Clause
#include "comm/surroundings.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "base/pack.hpp"
#include "base/platform.hpp"
#include "comm/vendor.hpp"
#include "hocket/version.h"

namespace hocket::comm {
namespace {

using Facts = decltype(Surroundings::facts);
constexpr std::size_t versions = 2;  // the first facts

// Read by the Python package: a check is a collective call of all processes.
const environment::JobSetting checks("HOCKET_CHECK", [] {
    const auto given = environment::value_of("HOCKET_CHECK");
    return std::string(given && *given != "0" ? "1" : "unset");
});

Surroundings unpacked(const std::string& bytes) {
    Unpacker in(bytes);
    Surroundings found;
    found.host = in.text();
    while (!in.empty()) {
        std::string name = in.text();
        found.facts.emplace_back(std::move(name), in.text());
    }
    return found;
}

// The value of that name; nullptr if another version does not know it.
const std::string* find(const Facts& facts, const std::string& name) {
    const auto found = std::find_if(facts.begin(), facts.end(),
                                    [&](const auto& fact) { return fact.first == name; });
    return found == facts.end() ? nullptr : &found->second;
}

}  // namespace

Surroundings own_surroundings() {
    Surroundings own{platform::host_name(),
                     {{"hocket's version", HOCKET_VERSION}, {"MPI", vendor::library()}}};
    for (auto& setting : environment::job_settings()) own.facts.push_back(std::move(setting));
    return own;
}

std::string packed(const Surroundings& surroundings) {
    Packer out;
    out.text(surroundings.host);
    for (const auto& [name, value] : surroundings.facts) out.text(name).text(value);
    return out.take();
}

std::string surroundings_differ(const std::string& low, const std::string& low_name,
                                const std::string& high, const std::string& high_name) {
    const Surroundings a = unpacked(low), b = unpacked(high);
    std::string found;
    bool by_version = false;
    for (std::size_t i = 0; i < a.facts.size() && !(by_version && i >= versions); ++i) {
        const auto& [name, value] = a.facts[i];
        const std::string* const other = find(b.facts, name);
        if (other == nullptr || *other == value) continue;
        by_version = by_version || i < versions;
        found += (found.empty() ? "" : "; ") + name + " is " + value + " on " + low_name +
                 " (host " + a.host + "), but " + *other + " on " + high_name + " (host " + b.host +
                 ")";
    }
    if (found.empty()) return found;
    return "the processes of one job differ: " + found +
           (by_version ? "; install the same version for all of them"
                       : "; set it alike for all of them, or unset it");
}

}  // namespace hocket::comm

// SPDX-License-Identifier: BSD-3-Clause
// Versions and settings (environment::JobSetting) that all processes of a job must have alike.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hocket::comm {

struct Surroundings {
    std::string host;  ///< for messages
    /// Names and values; versions come first.
    std::vector<std::pair<std::string, std::string>> facts;
};

/// Those of this process. @throws Error for an unreadable setting.
Surroundings own_surroundings();

/// Invariant: the layout of these bytes stays in all versions of hocket.
std::string packed(const Surroundings& surroundings);

/// The message for two texts of `packed` with different facts, or "", as comm::agree needs it. Of
/// two versions it names the versions alone.
std::string surroundings_differ(const std::string& low, const std::string& low_name,
                                const std::string& high, const std::string& high_name);

}  // namespace hocket::comm

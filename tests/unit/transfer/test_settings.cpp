// SPDX-License-Identifier: BSD-3-Clause
// Every setting is read before processes begin something together.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"

namespace hocket {
namespace {

// In a process of its own, as most are read once.
bool is_refused(const char* name, const char* value) {
    const pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        try {
            environment::check();
        } catch (const Error& error) {
            _exit(std::string(error.what()).find(name) != std::string::npos ? 0 : 2);
        }
        _exit(1);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

// GoogleTest runs suites of this name first, so that no other test has read a setting before.
TEST(SettingsDeathTest, AreCheckedBeforeTheyAreNeeded) {
    for (const char* name : {"HOCKET_CACHE_BYTES", "HOCKET_CPU", "HOCKET_CROSSING", "HOCKET_FORBID",
                             "HOCKET_MAX_BUFFER", "HOCKET_MODEL", "HOCKET_PLAN_CACHE",
                             "HOCKET_POOL_BYTES", "HOCKET_THREADS"})
        EXPECT_TRUE(is_refused(name, "nonsense")) << name;
    EXPECT_TRUE(is_refused("HOCKET_MAX_BUFFER", "1M"));
}

}  // namespace
}  // namespace hocket

// SPDX-License-Identifier: BSD-3-Clause
// Settings that come from variables of the environment, read alike everywhere: unset and empty
// mean the same, and what cannot be read is an error that names the variable and its value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::environment {

/// A setting that is read in the middle of something. One beside each reader; they live as long as
/// the library.
class ValidatedSetting {
  public:
    /// `read` throws Error where the setting cannot be read.
    explicit ValidatedSetting(void (*read)()) noexcept;
    ValidatedSetting(const ValidatedSetting&) = delete;
    ValidatedSetting& operator=(const ValidatedSetting&) = delete;

  private:
    friend void check();
    void (*read_)();
    const ValidatedSetting* before_;
};

/// Reads all of them: before processes begin something together, so that one that cannot do its
/// part says so by then. @throws Error
void check();

/// The variable's text; nothing if it is unset or empty.
std::optional<std::string> value_of(const char* name);

/// A whole number from `least` to `most`. `meaning` is part of the message, as "a number of
/// threads". @throws Error
std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most,
                                   std::string_view meaning);

/// A number of bytes, in units of 1024: 65536, 64K, 64 KiB, 1.5G. @throws Error
std::optional<std::int64_t> bytes(const char* name);

/// Whole numbers with commas, as 0,0,1,1. @throws Error
std::optional<std::vector<std::int64_t>> numbers(const char* name);

}  // namespace hocket::environment

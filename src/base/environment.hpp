// SPDX-License-Identifier: BSD-3-Clause
// Settings in environment variables. Unset and empty are the same everywhere. An unreadable value
// is an error that names the variable and the value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket::environment {

/// A setting that hocket reads in the middle of an operation. Declare one beside each reader; it
/// lives as long as the library.
class ValidatedSetting {
  public:
    /// `read` throws Error for an unreadable setting.
    explicit ValidatedSetting(void (*read)()) noexcept;
    ValidatedSetting(const ValidatedSetting&) = delete;
    ValidatedSetting& operator=(const ValidatedSetting&) = delete;

  private:
    friend void check();
    void (*read_)();
    const ValidatedSetting* before_;
};

/// A setting that all processes of a job must have alike, because their messages depend on it.
/// Declare one beside the reader; it lives as long as the library.
class JobSetting {
  public:
    /// `value` gives the setting in one spelling for all that mean the same; it may throw Error.
    JobSetting(const char* name, std::string (*value)()) noexcept;
    JobSetting(const JobSetting&) = delete;
    JobSetting& operator=(const JobSetting&) = delete;

  private:
    friend std::vector<std::pair<std::string, std::string>> job_settings();
    const char* name_;
    std::string (*value_)();
    const JobSetting* before_;
};

/// Names and values of all of them, by name. @throws Error if one is unreadable.
std::vector<std::pair<std::string, std::string>> job_settings();

/// Reads all validated settings before processes begin a collective operation, so that an error
/// comes before it. @throws Error
void check();

/// The variable's text; nothing if it is unset or empty.
std::optional<std::string> value_of(const char* name);

/// An integer from `least` to `most`. `meaning` is part of the message, as "a number of threads".
/// @throws Error
std::optional<std::int64_t> number(const char* name, std::int64_t least, std::int64_t most,
                                   std::string_view meaning);

/// A number of bytes, in units of 1024: 65536, 64K, 64 KiB, 1.5G. @throws Error
std::optional<std::int64_t> bytes(const char* name);

/// The path of the file of `hocket calibrate`: HOCKET_MODEL, else hocket/model in the user's
/// configuration; "" if there is none.
std::string kept_path();

/// Integers with commas, as 0,0,1,1. @throws Error
std::optional<std::vector<std::int64_t>> numbers(const char* name);

}  // namespace hocket::environment

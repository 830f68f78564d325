// SPDX-License-Identifier: BSD-3-Clause
// The parameters of a program, as words `name=value`. `hocket app` reads, explains and checks the
// command line before any process starts; the programs get plain values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace apps {

/// Named values. Each getter throws hocket::Error that names the parameter and its value.
class Parameters {
  public:
    Parameters(int argc, char** argv);

    const std::string& text(const std::string& name) const;
    bool has(const std::string& name) const { return values_.count(name) > 0; }
    std::int64_t whole(const std::string& name, std::int64_t least = 0) const;
    double real(const std::string& name) const;
    bool flag(const std::string& name) const { return whole(name) != 0; }
    /// "1,2,3"; "" is none.
    std::vector<std::int64_t> wholes(const std::string& name) const;
    /// "data,tasks"
    std::vector<std::string> words(const std::string& name) const;

  private:
    std::map<std::string, std::string> values_;
};

}  // namespace apps

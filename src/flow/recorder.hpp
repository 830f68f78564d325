// SPDX-License-Identifier: BSD-3-Clause
// The recorder of a flow: stores its steps for drawings.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace hocket::flow {

class Recorder {
  public:
    struct Node {
        std::string name;
        bool communicates = false;
        struct Part {
            int worker;
            double begin, end;
        };
        std::vector<Part> parts;  // several if it waits in its middle; none: it has not run
        bool failed = false;
        std::vector<std::uint64_t> waits_for;  // numbers of steps
    };
    void inserted(std::uint64_t number, const std::string& name, bool communicates,
                  std::vector<std::uint64_t> waits_for);
    void ran(std::uint64_t number, int worker, double begin, double end, bool failed);

    std::string dot() const;
    std::string svg(int workers) const;

  private:
    mutable std::mutex guard_;
    std::vector<Node> nodes_;  // by number
};

}  // namespace hocket::flow

// SPDX-License-Identifier: BSD-3-Clause
// A stream of grey images as a file, frame by frame, row by row, a byte a pixel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fft.hpp"
#include "hocket/array.hpp"

namespace apps {

/// This process's rows of every frame, read once, so that the disk's speed does not matter.
class Images {
  public:
    /// `rows` is the (BLOCK, *) layout of one frame; `process` the part that is read.
    /// @throws hocket::Error if the file cannot be read, or is too short.
    Images(const std::string& path, std::int64_t frames, const hocket::Layout& rows,
           std::int64_t process);

    /// Frame `number`'s rows of this process, as complex numbers.
    void read(std::int64_t number, std::span<Complex> into) const;

  private:
    std::size_t part_;  // pixels of a frame that are this process's
    std::vector<unsigned char> pixels_;
};

}  // namespace apps

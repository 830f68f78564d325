// SPDX-License-Identifier: BSD-3-Clause
// A box of elements that a file holds contiguously, with the same bytes as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "zarr/boxes.hpp"
#include "zarr/dtype.hpp"
#include "zarr/files.hpp"

namespace hocket::zarr {

class Plain {
  public:
    /// Extents and strides (bytes) by dimension; `order` of dimensions in the file, slowest first.
    Plain(const Shape& extents, const Shape& strides, const std::vector<std::size_t>& order,
          std::int64_t itemsize, std::byte* first);

    void read(const File& file, std::int64_t offset) const;
    void write(const File& file, std::int64_t offset) const;
    /// Whether each element has the bytes of `value`.
    bool all_equal(const Bytes& value) const;

  private:
    template <class Use>
    void each_piece(std::int64_t offset, const Use& use) const;
    template <class Use>
    void each_run(const Use& use) const;
    template <class Use>
    void each_list(std::int64_t offset, const Use& use) const;

    std::byte* first_;
    std::int64_t itemsize_, run_;  // bytes
    std::size_t loops_;            // number of dimensions outside of the runs
    Shape extents_, strides_;      // in the file's order
};

}  // namespace hocket::zarr

// SPDX-License-Identifier: BSD-3-Clause
// Elements converted to another type, on their way or on one process.
#pragma once

#include <cstddef>
#include <memory>

#include "hocket/transfer.hpp"

namespace hocket::transfer {

/// Whether a redistribution between them converts elements.
bool converts(const Array& source, const Array& destination, const RedistributeOptions& options);

/// A redistribution that converts. The type with fewer bytes travels: elements that become shorter
/// are converted before, others after it.
class Conversion {
  public:
    /// Takes all memory of the conversion. @throws MemoryError or std::bad_alloc.
    Conversion(const Array& source, const Array& destination);
    const Array& sent() const { return sent_; }
    const Array& received() const { return received_; }
    /// The rest of the conversion, after the redistribution of `sent` to `received`.
    void finish() const;

  private:
    Array sent_, received_, destination_;
    std::shared_ptr<std::byte> converted_;  // dense, for a destination that is not
};

}  // namespace hocket::transfer

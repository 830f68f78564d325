// SPDX-License-Identifier: BSD-3-Clause
// Elements converted to another type, on their way or on one process.
#pragma once

#include <memory>

#include "hocket/transfer.hpp"

namespace hocket::transfer {

/// Whether a redistribution between them converts elements.
bool converts(const Array& source, const Array& destination, const RedistributeOptions& options);

/// A redistribution that converts. The type with fewer bytes travels: elements that become shorter
/// are converted before, others after it.
class Conversion {
  public:
    Conversion(const Array& source, const Array& destination);
    const Array& sent() const { return sent_; }
    const Array& received() const { return received_; }
    /// The redistribution of `sent` to `received`, then the rest of the conversion.
    std::shared_ptr<Operation> ending(std::shared_ptr<Operation> begun) const;

  private:
    Array sent_, received_, destination_;
};

}  // namespace hocket::transfer

// SPDX-License-Identifier: BSD-3-Clause
// Layouts in messages between tasks. A short layout travels as its bytes, a long one as its digest
// if the receiver knows it. Two ways tell a sender so:
// 1. Envelopes of a pair of tasks are in order, so both sides keep the same recent layouts.
// 2. Replies, and the outcomes of calls within a task, are not in order. Their receivers offer the
//    digests of layouts that they hold, and keep these layouts until the call ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pack.hpp"
#include "hocket/layout.hpp"

namespace hocket::task {

/// The long layouts that were packed or unpacked last. Invariant: two processes that pack and
/// unpack the same sequence keep the same digests, because each use puts one first and drops the
/// last beyond its capacity.
class KnownLayouts {
  public:
    static constexpr std::size_t usual = 16;
    static constexpr std::size_t unlimited = static_cast<std::size_t>(-1);

    KnownLayouts() = default;
    explicit KnownLayouts(std::size_t capacity) : capacity_(capacity) {}
    /// The offer of another process.
    explicit KnownLayouts(std::vector<std::string> offer) : offered_(std::move(offer)) {}

    void pack(Packer& out, const Layout& layout);
    /// @throws LayoutError for bytes that are no layout, Error for an unknown digest.
    Layout unpack(Unpacker& in);
    /// Puts a layout first, if it is long.
    void keep(const Layout& layout);
    /// The first `count` ones.
    KnownLayouts recent(std::size_t count = 4) const;
    /// The digests.
    std::vector<std::string> offer() const;
    /// The bytes of the layouts that these digests name, as `unpack` reads them.
    std::string whole(const std::vector<std::string>& digests) const;

  private:
    bool find(std::string_view digest);  // puts it first
    void add(const Layout& layout);

    std::size_t capacity_ = usual;
    std::vector<std::string> offered_;  // digests of layouts that another process holds
    std::vector<Layout> layouts_;       // the latest used comes first
};

void pack(Packer& out, const std::vector<std::string>& texts);
std::vector<std::string> unpack_texts(Unpacker& in);

}  // namespace hocket::task

// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cycle_finder.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

#include "kernel/unit_group.hpp"

namespace hocket::kernel {
namespace {

/// Two dimensions: from the arithmetic of M N - 1.
class ByArithmetic {
  public:
    explicit ByArithmetic(const Permutation& permutation)
        : modulus_(permutation.blocks() - 1),
          factor_(permutation.extents[1]),
          group_(modulus_, factor_ % modulus_),
          exponents_(group_.factors().size()) {}

    bool find(std::vector<Segment>& out, std::size_t enough, std::int64_t longest) {
        while (out.size() < enough) {
            if (!cosets_ && !next_divisor()) return false;
            const std::int64_t gcd = modulus_ / cosets_->modulus();
            append(out, gcd * cosets_->value(), cosets_->length(), longest);
            if (!cosets_->advance()) cosets_.reset();
        }
        return true;
    }

  private:
    /// The next divisor of the modulus whose positions move.
    bool next_divisor() {
        for (;;) {
            std::size_t f = 0;
            while (f < exponents_.size() && exponents_[f] == group_.factors()[f].exponent)
                exponents_[f++] = 0;
            if (f == exponents_.size()) return false;  // back at the divisor 1: position 0 stays
            ++exponents_[f];
            cosets_.emplace(group_, exponents_);
            if (cosets_->length() > 1) return true;
        }
    }

    void append(std::vector<Segment>& out, std::int64_t start, std::int64_t length,
                std::int64_t longest) const {
        if (length <= longest) {
            out.push_back({start, length, start});
            return;
        }
        const std::int64_t pieces = base::ceil_div(length, longest);
        const std::int64_t shorter = length / pieces, longer = length % pieces;
        const std::int64_t jump = power_mod(factor_, shorter, modulus_);
        const std::int64_t place_0 = start;
        std::int64_t position = start;
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            std::int64_t next = multiply_mod(position, jump, modulus_);
            const bool extra = piece < longer;
            if (extra) next = multiply_mod(next, factor_ % modulus_, modulus_);
            if (piece + 1 == pieces) next = place_0;
            out.push_back({position, shorter + (extra ? 1 : 0), next});
            position = next;
        }
    }

    std::int64_t modulus_, factor_;
    UnitGroup group_;
    std::vector<int> exponents_;
    std::optional<UnitGroup::Cosets> cosets_;
};

/// Any permutation: visits every position once.
class ByScan {
  public:
    ByScan(const Permutation& permutation, const Ring& ring)
        : next_(permutation, ring),
          blocks_(permutation.blocks()),
          seen_(static_cast<std::size_t>(base::ceil_div<std::int64_t>(blocks_, 64))) {}

    bool find(std::vector<Segment>& out, std::size_t enough, std::int64_t longest) {
        while (out.size() < enough) {
            while (position_ < blocks_ && seen(position_)) skip();
            if (position_ >= blocks_) return false;
            walk(out, longest);
        }
        return true;
    }

  private:
    bool seen(std::int64_t position) const {
        return (seen_[static_cast<std::size_t>(position) / 64] >> (position % 64) & 1) != 0;
    }
    void skip() {
        const std::uint64_t word =
            ~seen_[static_cast<std::size_t>(position_) / 64] >> (position_ % 64);
        position_ += word == 0 ? 64 - position_ % 64 : __builtin_ctzll(word);
    }

    void walk(std::vector<Segment>& out, std::int64_t longest) {
        const std::int64_t start = position_;
        const std::size_t first = out.size();
        std::int64_t length = 0, position = start;
        do {
            if (length == longest) {
                out.push_back({out.size() == first ? start : out.back().next, length, position});
                length = 0;
            }
            seen_[static_cast<std::size_t>(position) / 64] |= std::uint64_t{1} << (position % 64);
            ++length;
            position = next_(position);
        } while (position != start);
        const std::int64_t from = out.size() == first ? start : out.back().next;
        if (out.size() > first || length > 1) out.push_back({from, length, start});
    }

    Successor next_;
    std::int64_t blocks_, position_ = 0;
    std::vector<std::uint64_t> seen_;
};

}  // namespace

struct CycleFinder::Method {
    std::variant<ByArithmetic, ByScan> method;
};

CycleFinder::CycleFinder(const Permutation& permutation, const Ring& ring) {
    if (permutation.dimensions() == 2 && ring.step == 0)
        method_.reset(new Method{ByArithmetic(permutation)});
    else
        method_.reset(new Method{ByScan(permutation, ring)});
}

CycleFinder::CycleFinder(CycleFinder&&) noexcept = default;
CycleFinder::~CycleFinder() = default;

bool CycleFinder::find(std::vector<Segment>& out, std::size_t enough, std::int64_t longest) {
    return std::visit([&](auto& method) { return method.find(out, enough, longest); },
                      method_->method);
}

std::int64_t CycleFinder::memory(const Permutation& permutation, const Ring& ring) {
    const bool arithmetic = permutation.dimensions() == 2 && ring.step == 0;
    // Tables of the finder and of the walk, and what these are made of.
    const std::int64_t rows = 24 * ring.table_rows(permutation.blocks());
    return arithmetic ? 4096 : permutation.blocks() / 8 + rows + 4096;
}

}  // namespace hocket::kernel

// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/unit_group.hpp"

#include <numeric>

namespace hocket::kernel {
namespace {

std::int64_t power(std::int64_t base, int exponent) {
    return PrimePower{base, exponent}.value();
}

/// The unit modulo m = n rest that is `value` modulo n and 1 modulo rest (n, rest coprime, n a
/// power of `prime`).
std::int64_t lift(std::int64_t value, std::int64_t n, std::int64_t prime, std::int64_t rest) {
    const std::int64_t m = n * rest;
    // 1 + rest t with t = (value - 1) / rest modulo n.
    const std::int64_t inverse = power_mod(rest % n, n / prime * (prime - 1) - 1, n);
    const std::int64_t t = multiply_mod((value - 1 + n) % n, inverse % n, n);
    return (1 + multiply_mod(rest % m, t, m)) % m;
}

}  // namespace

UnitGroup::UnitGroup(std::int64_t q, std::int64_t element) : factors_(factorize(q)) {
    for (std::size_t f = 0; f < factors_.size(); ++f) {
        const auto [prime, exponent] = factors_[f];
        const std::int64_t n = factors_[f].value();
        const std::int64_t e = element % n;
        if (prime != 2) {
            const std::int64_t root = primitive_root(prime);
            const std::int64_t order = n / prime * (prime - 1);
            cyclic_.push_back({f, root % n, order, discrete_logarithm(root % n, order, e, n)});
            continue;
        }
        // Units modulo 2^k: {1, -1} times the powers of 5, of which there are 2^(k-2).
        if (exponent < 2) continue;
        const bool negative = e % 4 == 3;
        cyclic_.push_back({f, n - 1, 2, negative ? 1 : 0, true});
        if (exponent < 3) continue;
        cyclic_.push_back({f, 5, n / 4, discrete_logarithm(5, n / 4, negative ? n - e : e, n)});
    }
}

UnitGroup::Cosets::Cosets(const UnitGroup& group, const std::vector<int>& exponents) {
    for (std::size_t f = 0; f < exponents.size(); ++f)
        modulus_ *= power(group.factors_[f].prime, exponents[f]);
    // The element moves the first coordinate in steps of gcd(its exponent, order), so that many
    // representatives differ there. The smallest power of the element that fixes the first
    // coordinate then takes its role for the others.
    for (const Cyclic& cyclic : group.cyclic_) {
        const std::int64_t prime = group.factors_[cyclic.factor].prime;
        const int exponent = exponents[cyclic.factor];
        const std::int64_t n = power(prime, exponent);
        std::int64_t order = n / prime * (prime - 1);
        if (prime == 2) order = cyclic.sign ? (exponent >= 2 ? 2 : 1) : (exponent >= 3 ? n / 4 : 1);
        if (exponent == 0 || order <= 1) continue;
        const std::int64_t step = multiply_mod(length_ % order, cyclic.exponent % order, order);
        const std::int64_t count = std::gcd(step, order);  // gcd(0, order) = order
        length_ *= order / count;
        if (count == 1) continue;
        generators_.push_back(lift(cyclic.generator % n, n, prime, modulus_ / n));
        counts_.push_back(count);
    }
    positions_.assign(counts_.size(), 0);
    values_.assign(counts_.size() + 1, 1 % modulus_);
}

bool UnitGroup::Cosets::advance() {
    std::size_t k = counts_.size();
    while (k > 0 && positions_[k - 1] + 1 == counts_[k - 1]) --k;
    if (k == 0) return false;
    ++positions_[k - 1];
    std::int64_t value = multiply_mod(values_[k], generators_[k - 1], modulus_);
    for (; k <= counts_.size(); ++k) {
        values_[k] = value;
        if (k < counts_.size()) positions_[k] = 0;
    }
    return true;
}

}  // namespace hocket::kernel

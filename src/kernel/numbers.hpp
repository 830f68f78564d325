// SPDX-License-Identifier: BSD-3-Clause
// The number theory that finds permutation cycles without walking them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hocket::kernel {

/// a b mod m, for a and b in [0, m) and m below 2^63.
std::int64_t multiply_mod(std::int64_t a, std::int64_t b, std::int64_t m);
std::int64_t power_mod(std::int64_t base, std::int64_t exponent, std::int64_t m);

struct PrimePower {
    std::int64_t prime;
    int exponent;
    std::int64_t value() const;
};

/// Factors of n >= 1, by increasing prime (Pollard's rho with Miller and Rabin's test).
std::vector<PrimePower> factorize(std::int64_t n);

/// A primitive root of an odd prime that is also one of all powers of the prime.
std::int64_t primitive_root(std::int64_t prime);

/// The x in [0, order) with generator^x = value (mod m), for a `generator` of this order (Pohlig
/// and Hellman, with Shanks's baby and giant steps for each prime factor of the order).
std::int64_t discrete_logarithm(std::int64_t generator, std::int64_t order, std::int64_t value,
                                std::int64_t m);

}  // namespace hocket::kernel

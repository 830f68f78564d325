// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/numbers.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.hpp"

namespace hocket::kernel {
namespace {

bool is_prime(std::int64_t n) {
    if (n < 2) return false;
    // These bases decide every n below 3.3 10^24 (Sorenson and Webster, 2015).
    constexpr std::int64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41};
    for (const std::int64_t base : bases)
        if (n % base == 0) return n == base;
    const int twos = __builtin_ctzll(static_cast<unsigned long long>(n - 1));
    const std::int64_t odd = (n - 1) >> twos;
    for (const std::int64_t base : bases) {
        std::int64_t x = power_mod(base, odd, n);
        bool passes = x == 1 || x == n - 1;
        for (int k = 1; k < twos && !passes; ++k) {
            x = multiply_mod(x, x, n);
            passes = x == n - 1;
        }
        if (!passes) return false;
    }
    return true;
}

/// A proper factor of a composite n without small factors.
std::int64_t proper_factor(std::int64_t n) {
    for (std::int64_t constant = 1;; ++constant) {
        const auto step = [&](std::int64_t x) {
            const std::int64_t square = multiply_mod(x, x, n);
            return square >= n - constant ? square - (n - constant) : square + constant;
        };
        std::int64_t slow = 2, fast = 2, factor = 1;
        while (factor == 1) {
            slow = step(slow);
            fast = step(step(fast));
            factor = std::gcd(slow > fast ? slow - fast : fast - slow, n);
        }
        if (factor != n) return factor;
    }
}

void collect_primes(std::int64_t n, std::vector<std::int64_t>& primes) {
    if (n == 1) return;
    if (is_prime(n)) {
        primes.push_back(n);
        return;
    }
    const std::int64_t factor = proper_factor(n);
    collect_primes(factor, primes);
    collect_primes(n / factor, primes);
}

/// discrete_logarithm for an order that is a prime.
std::int64_t logarithm_of_prime_order(std::int64_t generator, std::int64_t prime,
                                      std::int64_t value, std::int64_t m) {
    std::int64_t width = 1;
    while (static_cast<base::wide>(width) * width < prime) width *= 2;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // (generator^k, k)
    std::int64_t power = 1 % m;
    for (std::int64_t k = 0; k < width; ++k) {
        steps.emplace_back(power, k);
        power = multiply_mod(power, generator, m);
    }
    std::sort(steps.begin(), steps.end());
    const std::int64_t back = power_mod(power, prime - 1, m);  // generator^-width
    for (std::int64_t giant = 0;; ++giant) {
        const auto found = std::lower_bound(steps.begin(), steps.end(),
                                            std::pair<std::int64_t, std::int64_t>(value, 0));
        if (found != steps.end() && found->first == value)
            return (giant * width + found->second) % prime;
        value = multiply_mod(value, back, m);
    }
}

}  // namespace

std::int64_t multiply_mod(std::int64_t a, std::int64_t b, std::int64_t m) {
    if (m <= INT32_MAX) return a * b % m;
    return static_cast<std::int64_t>(static_cast<base::wide>(a) * b % m);
}

std::int64_t power_mod(std::int64_t base, std::int64_t exponent, std::int64_t m) {
    std::int64_t result = 1 % m;
    for (base %= m; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = multiply_mod(result, base, m);
        base = multiply_mod(base, base, m);
    }
    return result;
}

std::int64_t PrimePower::value() const {
    std::int64_t value = 1;
    for (int k = 0; k < exponent; ++k) value *= prime;
    return value;
}

std::vector<PrimePower> factorize(std::int64_t n) {
    std::vector<std::int64_t> primes;
    for (std::int64_t p = 2; p < 1000 && p * p <= n; p += p == 2 ? 1 : 2)
        for (; n % p == 0; n /= p) primes.push_back(p);
    collect_primes(n, primes);
    std::sort(primes.begin(), primes.end());
    std::vector<PrimePower> factors;
    for (const std::int64_t prime : primes) {
        if (!factors.empty() && factors.back().prime == prime)
            ++factors.back().exponent;
        else
            factors.push_back({prime, 1});
    }
    return factors;
}

std::int64_t primitive_root(std::int64_t prime) {
    const auto factors = factorize(prime - 1);
    const bool square_fits = prime <= 3037000499;  // the root of 2^63
    for (std::int64_t root = 2;; ++root) {
        const bool generates = std::all_of(factors.begin(), factors.end(), [&](PrimePower factor) {
            return power_mod(root, (prime - 1) / factor.prime, prime) != 1;
        });
        if (!generates) continue;
        // A root of p is a root of every p^k unless root^(p-1) = 1 mod p^2. If p^2 does not fit,
        // callers use no higher power.
        if (square_fits && power_mod(root, prime - 1, prime * prime) == 1) continue;
        return root;
    }
}

std::int64_t discrete_logarithm(std::int64_t generator, std::int64_t order, std::int64_t value,
                                std::int64_t m) {
    std::int64_t result = 0, modulus = 1;  // x is result modulo modulus
    for (const PrimePower factor : factorize(order)) {
        // x modulo p^e, digit by digit in base p.
        const std::int64_t whole = factor.value();
        const std::int64_t g = power_mod(generator, order / whole, m);
        const std::int64_t v = power_mod(value, order / whole, m);
        const std::int64_t top = power_mod(g, whole / factor.prime, m);  // has order p
        std::int64_t x = 0, weight = 1;
        for (int k = 0; k < factor.exponent; ++k, weight *= factor.prime) {
            const std::int64_t rest = multiply_mod(v, power_mod(g, (whole - x) % whole, m), m);
            const std::int64_t digit = logarithm_of_prime_order(
                top, factor.prime, power_mod(rest, whole / factor.prime / weight, m), m);
            x += digit * weight;
        }
        // Chinese remainder: result + modulus t = x (mod whole).
        const std::int64_t inverse =
            power_mod(modulus % whole, whole / factor.prime * (factor.prime - 1) - 1, whole);
        const std::int64_t difference = ((x - result) % whole + whole) % whole;
        result += modulus * multiply_mod(difference, inverse % whole, whole);
        modulus *= whole;
    }
    return result;
}

}  // namespace hocket::kernel

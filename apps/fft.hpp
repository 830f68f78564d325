// SPDX-License-Identifier: BSD-3-Clause
// One-dimensional FFTs of contiguous lines, by Eigen.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

namespace apps {

using Complex = std::complex<double>;

/// Transforms lines of one length. Not to be shared by threads.
class Fft {
  public:
    explicit Fft(std::int64_t length);
    ~Fft();
    Fft(const Fft&) = delete;
    Fft& operator=(const Fft&) = delete;

    /// Transforms every line of `lines`, one after the other, in place. Forward: the sum over
    /// x[n]·exp(-2πikn/N); backward: exp(+2πikn/N), divided by N.
    void forward(std::span<Complex> lines);
    void backward(std::span<Complex> lines);

  private:
    struct Engine;
    std::int64_t length_;
    std::unique_ptr<Engine> engine_;
};

}  // namespace apps

// SPDX-License-Identifier: BSD-3-Clause
#include "fft.hpp"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "model.hpp"

namespace apps {

struct Fft::Engine {
    Eigen::FFT<double> fft;
    std::vector<Complex> line;
};

Fft::Fft(std::int64_t length) : length_(length), engine_(std::make_unique<Engine>()) {
    engine_->line.resize(static_cast<std::size_t>(length));
}

Fft::~Fft() = default;

// The usual operation count of a complex FFT.
static double operations(std::size_t elements, std::int64_t length) {
    return 5.0 * static_cast<double>(elements) * std::log2(static_cast<double>(length));
}

void Fft::forward(std::span<Complex> lines) {
    if (modelled(Work::fft, operations(lines.size(), length_))) return;
    const auto n = static_cast<std::size_t>(length_);
    for (std::size_t at = 0; n > 1 && at + n <= lines.size(); at += n) {
        std::copy_n(&lines[at], n, engine_->line.data());
        engine_->fft.fwd(&lines[at], engine_->line.data(), length_);
    }
}

void Fft::backward(std::span<Complex> lines) {
    if (modelled(Work::fft, operations(lines.size(), length_))) return;
    const auto n = static_cast<std::size_t>(length_);
    for (std::size_t at = 0; n > 1 && at + n <= lines.size(); at += n) {
        std::copy_n(&lines[at], n, engine_->line.data());
        engine_->fft.inv(&lines[at], engine_->line.data(), length_);
    }
}

}  // namespace apps

// SPDX-License-Identifier: BSD-3-Clause
#include "fft.hpp"

#include <algorithm>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace apps {

struct Fft::Engine {
    Eigen::FFT<double> fft;
    std::vector<Complex> line;
};

Fft::Fft(std::int64_t length) : length_(length), engine_(std::make_unique<Engine>()) {
    engine_->line.resize(static_cast<std::size_t>(length));
}

Fft::~Fft() = default;

void Fft::forward(std::span<Complex> lines) {
    const auto n = static_cast<std::size_t>(length_);
    for (std::size_t at = 0; n > 1 && at + n <= lines.size(); at += n) {
        std::copy_n(&lines[at], n, engine_->line.data());
        engine_->fft.fwd(&lines[at], engine_->line.data(), length_);
    }
}

void Fft::backward(std::span<Complex> lines) {
    const auto n = static_cast<std::size_t>(length_);
    for (std::size_t at = 0; n > 1 && at + n <= lines.size(); at += n) {
        std::copy_n(&lines[at], n, engine_->line.data());
        engine_->fft.inv(&lines[at], engine_->line.data(), length_);
    }
}

}  // namespace apps

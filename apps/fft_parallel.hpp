// SPDX-License-Identifier: BSD-3-Clause
// The 2-D FFT of one array by all processes of a communicator: rows, transposition, rows again
// (Figure 1 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards").
#pragma once

#include "fft.hpp"
#include "hocket/plan.hpp"
#include "hocket/transfer.hpp"

namespace apps {

class ParallelFft {
  public:
    /// For images of this shape.
    ParallelFft(const hocket::Shape& image, const hocket::Comm& comm)
        : rows_(image, "(BLOCK, *)", {comm.size()}),
          turned_({image[1], image[0]}, "(BLOCK, *)", {comm.size()}),
          along_rows_(image[1]),
          along_columns_(image[0]) {
        options_.axes = {1, 0};
    }

    const hocket::Layout& rows() const { return rows_; }      ///< of images
    const hocket::Layout& turned() const { return turned_; }  ///< of spectra, transposed

    /// Destroys `image`. Both are dense. Collective.
    void forward(const hocket::Array& image, const hocket::Array& spectrum) {
        along_rows_.forward(image.local<Complex>());
        hocket::redistribute(image, spectrum, options_);
        along_columns_.forward(spectrum.local<Complex>());
    }
    void backward(const hocket::Array& spectrum, const hocket::Array& image) {
        along_columns_.backward(spectrum.local<Complex>());
        hocket::redistribute(spectrum, image, options_);
        along_rows_.backward(image.local<Complex>());
    }

    /// Messages of one transposition.
    std::int64_t messages() const {
        hocket::plan::Options options;
        options.axes = {1, 0};
        options.itemsize = sizeof(Complex);
        for (std::int64_t r = 0; r < turned_.size(); ++r) options.overlap.push_back(r);
        return hocket::Plan(rows_, turned_, options).message_count();
    }

  private:
    hocket::Layout rows_, turned_;
    Fft along_rows_, along_columns_;
    hocket::RedistributeOptions options_;
};

}  // namespace apps

// SPDX-License-Identifier: BSD-3-Clause
#include "images.hpp"

#include <algorithm>
#include <fstream>

namespace apps {

Images::Images(const std::string& path, std::int64_t frames, const hocket::Layout& rows,
               std::int64_t process)
    : part_(static_cast<std::size_t>(rows.local_elements(process))) {
    pixels_.resize(part_ * static_cast<std::size_t>(frames));
    const auto held = rows.global_indices(process)[0];
    const std::int64_t width = rows.shape()[1], frame = rows.num_elements();
    const std::int64_t first = held.empty() ? 0 : held.front() * width;
    std::ifstream file(path, std::ios::binary);
    for (std::int64_t number = 0; part_ > 0 && number < frames; ++number) {
        file.seekg(number * frame + first);
        auto* const into = pixels_.data() + static_cast<std::size_t>(number) * part_;
        if (!file.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(part_)))
            throw hocket::Error("image " + std::to_string(number) + " cannot be read from '" +
                                path + "'");
    }
}

void Images::read(std::int64_t number, std::span<Complex> into) const {
    const auto* const from = pixels_.data() + static_cast<std::size_t>(number) * part_;
    std::copy_n(from, part_, into.begin());
}

}  // namespace apps

// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <fstream>
#include <vector>

#include "hocket/transfer.hpp"

namespace apps {

void append(const std::string& path, const hocket::Array& array) {
    const auto bytes = array.layout().num_elements() * array.dtype().size;
    std::vector<char> whole(array.comm().rank() == 0 ? static_cast<std::size_t>(bytes) : 0);
    hocket::gather(array, whole.data());
    if (array.comm().rank() != 0) return;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    if (!file.write(whole.data(), static_cast<std::streamsize>(whole.size())).flush())
        throw hocket::Error("cannot write the result to '" + path + "'; is the disk full?");
}

}  // namespace apps

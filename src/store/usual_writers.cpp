// SPDX-License-Identifier: BSD-3-Clause
#include "store/usual_writers.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "hocket/plan.hpp"

namespace hocket::store {

std::int64_t kept_writers() {
    const std::string model = plan::Model::kept_path();
    std::ifstream file(model + ".writers");
    if (model.empty() || model == "default" || !file) return 0;
    std::string text;
    std::getline(file, text);
    const auto number = text::whole_number(text);
    if (!number || *number < 1)
        throw Error("the file '" + model + ".writers' has '" + text.substr(0, 40) +
                    "', which is no number of processes; write it anew with `hocket calibrate "
                    "--writers`, or remove it");
    return *number;
}

std::int64_t count_nodes(const comm::Link& link) {
    std::vector<std::int64_t> nodes;
    for (int rank = 0; rank < link.size(); ++rank) nodes.push_back(link.node(rank));
    std::sort(nodes.begin(), nodes.end());
    return std::unique(nodes.begin(), nodes.end()) - nodes.begin();
}

}  // namespace hocket::store

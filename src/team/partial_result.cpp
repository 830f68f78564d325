// SPDX-License-Identifier: BSD-3-Clause
#include "team/partial_result.hpp"

#include "team/fold.hpp"

namespace hocket::team {

shm::Payload PartialResult::packed() const {
    if (mismatch) return team::packed(*mismatch);
    return {header, value, before.has_value() ? 1U : 0U, before.value_or(0)};
}

PartialResult PartialResult::unpacked(std::size_t member, const shm::Payload& cell) {
    PartialResult partial{member, cell[0], cell[1]};
    if (cell[0] == mismatch_marker) {
        partial.mismatch = mismatch_in(cell);
    } else if (cell[2] != 0) {
        partial.before = cell[3];
    }
    return partial;
}

PartialResult combined(const Round& round, const std::vector<PartialResult>& published) {
    const auto process = [&](const PartialResult& partial) {
        return static_cast<std::uint64_t>(round.group->process(partial.member));
    };
    const Fold fold = fold_of(round.header.op, round.header.type);
    PartialResult all = published[0];
    for (std::size_t i = 1; i < published.size() && !all.mismatch; ++i) {
        const PartialResult& each = published[i];
        if (each.mismatch) {
            all.mismatch = each.mismatch;
        } else if (each.header != all.header) {
            all.mismatch = Mismatch{process(all), all.header, process(each), each.header};
        } else if (fold != nullptr) {
            all.value = fold(all.value, each.value);
        }
    }
    return all;
}

std::vector<PartialResult> answers_of(const Round& round,
                                      const std::vector<PartialResult>& published,
                                      const PartialResult& all) {
    std::vector<PartialResult> out(published.size(), all);
    if (all.mismatch || !scans(round.header.op)) return out;
    const Fold fold = fold_of(round.header.op, round.header.type);
    const std::optional<std::uint64_t> before = all.before;
    std::optional<std::uint64_t> upto;
    for (std::size_t i = 0; i < published.size(); ++i) {
        if (upto) out[i].before = before ? fold(*before, *upto) : *upto;
        upto = upto ? fold(*upto, published[i].value) : published[i].value;
        out[i].value = before ? fold(*before, *upto) : *upto;
    }
    out.back().value = all.value;
    return out;
}

}  // namespace hocket::team

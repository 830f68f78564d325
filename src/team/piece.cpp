// SPDX-License-Identifier: BSD-3-Clause
#include "team/piece.hpp"

#include "team/fold.hpp"

namespace hocket::team {

shm::Words Piece::packed() const {
    if (quarrel) return team::packed(*quarrel);
    return {header, value, before.has_value() ? 1U : 0U, before.value_or(0)};
}

Piece Piece::unpacked(std::size_t place, const shm::Words& cell) {
    Piece piece{place, cell[0], cell[1]};
    if (cell[0] == in_quarrel) {
        piece.quarrel = quarrel_in(cell);
    } else if (cell[2] != 0) {
        piece.before = cell[3];
    }
    return piece;
}

Piece joined(const Round& round, const std::vector<Piece>& said) {
    const auto process = [&](const Piece& piece) {
        return static_cast<std::uint64_t>(round.group->process(piece.place));
    };
    const Fold fold = fold_of(round.header.op, round.header.type);
    Piece all = said[0];
    for (std::size_t i = 1; i < said.size() && !all.quarrel; ++i) {
        const Piece& each = said[i];
        if (each.quarrel) {
            all.quarrel = each.quarrel;
        } else if (each.header != all.header) {
            all.quarrel = Quarrel{process(all), all.header, process(each), each.header};
        } else if (fold != nullptr) {
            all.value = fold(all.value, each.value);
        }
    }
    return all;
}

std::vector<Piece> told(const Round& round, const std::vector<Piece>& said, const Piece& all) {
    std::vector<Piece> out(said.size(), all);
    if (all.quarrel || !scans(round.header.op)) return out;
    const Fold fold = fold_of(round.header.op, round.header.type);
    const std::optional<std::uint64_t> before = all.before;
    std::optional<std::uint64_t> upto;
    for (std::size_t i = 0; i < said.size(); ++i) {
        if (upto) out[i].before = before ? fold(*before, *upto) : *upto;
        upto = upto ? fold(*upto, said[i].value) : said[i].value;
        out[i].value = before ? fold(*before, *upto) : *upto;
    }
    return out;
}

}  // namespace hocket::team

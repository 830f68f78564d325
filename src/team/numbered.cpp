// SPDX-License-Identifier: BSD-3-Clause
#include "team/numbered.hpp"

#include <utility>
#include <vector>

#include "base/port.hpp"
#include "comm/link.hpp"
#include "team/round.hpp"

namespace hocket::team {

using comm::Link;
using comm::Protocol;

bool Numbered::serves(const comm::Group& group) {
    if (port::simulated || group.size() < 2 || static_cast<std::size_t>(group.size()) > fan)
        return false;
    // The nodes, which all processes know alike, and not `near`: one outside the group asks, too.
    const std::int64_t node = group.link->node(group.rank_of(0));
    for (int member = 0; member < group.size(); ++member)
        if (group.link->node(group.rank_of(member)) != node) return false;
    return node >= 0;
}

Protocol<> Numbered::send(int number, const std::string& text, int first, int end) {
    std::vector<std::uint64_t> sent;
    for (int member = first; member < end; ++member)
        sent.push_back(
            group_.link->send_mail(group_.rank_of(member), Link::About::agreement, number, text));
    for (int member = first; member < end; ++member) {
        const int rank = group_.rank_of(member);
        comm::When gone([&] {
            if (group_.link->mail_gone(rank, sent[static_cast<std::size_t>(member - first)]))
                return true;
            group_.link->need(rank);
            return false;
        });
        co_await comm::until(gone);
    }
}

Protocol<std::string> Numbered::receive(int number, int member) {
    const int rank = group_.rank_of(member);
    std::optional<std::string> text;
    comm::When come([&] {
        text = group_.link->receive_mail(rank, Link::About::agreement, number);
        if (!text) group_.link->need(rank);
        return text.has_value();
    });
    co_await comm::until(come);
    co_return std::move(*text);
}

Protocol<std::string> Numbered::fold(int number, std::string mine, comm::Merge merge) {
    if (!group_.lowest()) {
        co_await send(number, mine, 0, 1);
        co_return std::string();
    }
    for (int member = 1; member < group_.size(); ++member) {
        std::string theirs = co_await receive(number, member);
        mine = merge(std::move(mine), std::move(theirs));
    }
    co_return mine;
}

Protocol<std::string> Numbered::spread(int number, std::string text) {
    if (group_.lowest()) {
        co_await send(number, text, 1, group_.size());
        co_return text;
    }
    std::string heard = co_await receive(number, 0);
    co_return heard;
}

}  // namespace hocket::team

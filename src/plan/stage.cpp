// SPDX-License-Identifier: BSD-3-Clause
#include "plan/stage.hpp"

#include <algorithm>
#include <cmath>

namespace hocket::plan {

double after_link(double handling, double carried, double pace) {
    return carried <= pace ? 0 : handling + std::sqrt(carried * carried - pace * pace);
}

Stage::Stage(const Problem& problem, const Costs& costs, bool together)
    : problem_(problem),
      costs_(costs),
      together_(together),
      processes_(problem.source.size() + problem.destination.size()),
      loads_(static_cast<std::size_t>(processes_ + costs.nodes())) {}

void Stage::add(const SideRank& from, const SideRank& to, std::int64_t elements, bool relayed) {
    const std::int64_t sender = process_number(problem_, from),
                       receiver = process_number(problem_, to);
    const std::int64_t here = costs_.node(from), there = costs_.node(to);
    const double start = costs_.start(here != there);
    add(sender, receiver, start,
        costs_.carry(here != there, static_cast<double>(elements), relayed));
    if (here == there) return;
    const std::int64_t link = processes_ + there;
    add(processes_ + here, link, 0, costs_.link(static_cast<double>(elements)));
    if (!together_) return;
    if (of(receiver).received == 0) arrivals_.emplace_back(receiver, link);
    of(receiver).received += start;
    of(sender).sent += start;
    of(link).sent = std::max(of(link).sent, of(sender).sent);  // the pace of its senders
}

void Stage::add(std::int64_t from, std::int64_t to, double start, double carry) {
    Load &sender = of(from), &receiver = of(to);
    if (sender.idle()) touched_.push_back(from);
    if (receiver.idle()) touched_.push_back(to);
    sender.messages += start;
    receiver.messages += start;
    sender.out += carry;
    receiver.in += carry;
    slowest_ = std::max({slowest_, sender.seconds(), receiver.seconds()});
}

double Stage::end() {
    double seconds = slowest_;
    for (const auto& [receiver, link] : arrivals_)
        seconds = std::max(seconds, after_link(of(receiver).received, of(link).in, of(link).sent));
    arrivals_.clear();
    for (const std::int64_t port : touched_) of(port) = {};
    touched_.clear();
    slowest_ = 0;
    return seconds;
}

StageOfSums::StageOfSums(const Problem& problem, const Costs& costs)
    : problem_(problem),
      costs_(costs),
      processes_(static_cast<std::size_t>(problem.source.size() + problem.destination.size())),
      links_(static_cast<std::size_t>(costs.nodes())) {}

void StageOfSums::add(const SideRank& stop, bool sends, const Ends& ends, bool relayed,
                      double weight) {
    Load& process = processes_[static_cast<std::size_t>(process_number(problem_, stop))];
    Load& link = links_[static_cast<std::size_t>(costs_.node(stop))];
    const double far = ends.far_messages * costs_.start(true);
    process.messages += ends.near_messages * costs_.start(false) + far;
    (sends ? process.out : process.in) += costs_.carry(false, ends.near_elements, relayed) +
                                          costs_.carry(true, ends.far_elements, relayed);
    (sends ? process.sent : process.received) += far;
    (sends ? link.out : link.in) += weight * costs_.link(ends.far_elements);
    (sends ? link.sent : link.received) =
        std::max(sends ? link.sent : link.received, sends ? process.sent : process.received);
}

bool StageOfSums::any() const {
    return std::any_of(processes_.begin(), processes_.end(),
                       [](const Load& process) { return process.messages > 0; });
}

double StageOfSums::end() const {
    double seconds = 0, pace = 0;
    for (const Load& process : processes_) seconds = std::max(seconds, process.seconds());
    for (const Load& link : links_) pace = std::max(pace, link.sent);
    for (const Load& link : links_)
        seconds = std::max({seconds, link.out, link.in,
                            link.received > 0 ? after_link(link.received, link.in, pace) : 0});
    return seconds;
}

}  // namespace hocket::plan

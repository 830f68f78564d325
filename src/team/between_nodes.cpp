// SPDX-License-Identifier: BSD-3-Clause
// Messages between the leaders of nodes, all to all (Bruck, Ho, Kipnis, Upfal, Weathersby:
// "Efficient algorithms for all-to-all communications in multiport message-passing systems", IEEE
// TPDS 8, 1997: all-gather in ceil(log2 n) rounds).
#include <algorithm>
#include <array>
#include <forward_list>
#include <string_view>

#include "team/hierarchical.hpp"

namespace hocket::team {
namespace {

using comm::Protocol;

/// Bytes of text in one message: those of all operations but a gather of more than 1000 processes.
constexpr std::size_t part_bytes = 4096;
/// A message begins with the number of the root team, because a team that was aborted may have left
/// messages behind, with 1 if more parts follow, and with the length of its own part.
constexpr std::size_t message_bytes = part_bytes + 3 * base::longest_number;

/// Messages under way, as groups of these numbers.
enum : std::size_t { sends, receives };

/// `sent` keeps the messages.
void send(const Round& round, std::size_t member, std::string_view text,
          std::forward_list<std::string>& sent, comm::Requests& messages) {
    messages.begin_group(sends);
    do {
        const std::string_view part = text.substr(0, part_bytes);
        text.remove_prefix(part.size());
        Packer message(part.size() + message_bytes - part_bytes);
        message.number(round.root->number()).number(text.empty() ? 0 : 1).text(part);
        sent.push_front(message.take());
        round.root->link().send(messages, sent.front().data(),
                                static_cast<std::int64_t>(sent.front().size()),
                                round.group->process(member), round.root->data_tag());
    } while (!text.empty());
}

/// A receive of the next message of that process. It is open before the message comes, so that MPI
/// need neither keep the message nor be asked for its length.
void open_receive(const Round& round, std::size_t member, std::string& message,
                  comm::Requests& messages) {
    message.resize(message_bytes);
    messages.begin_group(receives);
    round.root->link().receive(messages, message.data(), message_bytes,
                               round.group->process(member), round.root->data_tag());
}

/// The next text of that process. A receive into `message` is open.
Protocol<std::string> receive(Round& round, std::size_t member, std::string& message,
                              comm::Requests& messages) {
    bool arrived = false;
    PeerWait come(round, member, [&] {
        const auto done = messages.newly_done();
        arrived = arrived || std::find(done.begin(), done.end(), receives) != done.end();
        return arrived;
    });
    for (std::string text;;) {
        co_await comm::until(come);
        arrived = false;
        Unpacker in(message);
        const bool mine = in.number() == round.root->number(), last = in.number() == 0;
        if (mine) text += in.view();
        if (mine && last) co_return text;
        open_receive(round, member, message, messages);
    }
}

/// The beginning of a message between nodes: the header and a mismatch, if there is one.
void write_head(const Round& round, const PartialResult& partial, Packer& out) {
    out.word(round.header.packed()).number(partial.mismatch ? 1 : 0);
    if (!partial.mismatch) return;
    const shm::Payload words = packed(*partial.mismatch);
    for (std::size_t i = 0; i < mismatch_words; ++i) out.word(words[i]);
}

/// The mismatch of which the sender tells, or that of its call with this one's.
std::optional<Mismatch> mismatch_of_head(const Round& round, std::size_t sender, Unpacker& in) {
    const Group& group = *round.group;
    const std::uint64_t mine = round.header.packed(), header = in.word();
    Mismatch mismatch{static_cast<std::uint64_t>(group.process(group.me)), mine,
                      static_cast<std::uint64_t>(group.process(sender)), header};
    if (sender < group.me)
        mismatch = {mismatch.high_process, mismatch.high, mismatch.low_process, mismatch.low};
    if (mismatch.groups_differ()) return mismatch;
    if (in.number() != 0) {
        std::array<std::uint64_t, mismatch_words> words{};
        for (std::uint64_t& word : words) word = in.word();
        return mismatch_in(words);
    }
    if (header != mine) return mismatch;
    return std::nullopt;
}

}  // namespace

Protocol<> between_nodes(Round& round, PartialResult& partial, NodeValues& values) {
    const Group& group = *round.group;
    const std::size_t nodes = group.nodes.size(), me = group.my_node;
    std::forward_list<std::string> sent;
    std::string message;
    comm::Requests messages;
    for (std::size_t apart = 1; apart < nodes; apart *= 2) {
        const std::size_t count = std::min(apart, nodes - apart);
        const std::size_t to = group.nodes[(me + nodes - apart) % nodes][0];
        const std::size_t from = group.nodes[(me + apart) % nodes][0];
        open_receive(round, from, message, messages);
        Packer out(128);
        write_head(round, partial, out);
        if (!partial.mismatch) values.write(count, out);
        send(round, to, out.take(), sent, messages);

        const std::string observed = co_await receive(round, from, message, messages);
        Unpacker in(observed);
        const std::optional<Mismatch> found = mismatch_of_head(round, from, in);
        if (found && found->groups_differ()) throw_mismatch(round, *found);
        if (!partial.mismatch) partial.mismatch = found;
        if (!partial.mismatch) values.append(count, in);
    }
    co_await comm::until(messages);
}

}  // namespace hocket::team

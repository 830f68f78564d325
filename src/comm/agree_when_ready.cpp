// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "comm/texts.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {

Protocol<> agree_when_ready(const Group& group, int tag, const std::function<bool()>& ready,
                            const std::function<void()>& serve) {
    Link& link = *group.link;
    Texts texts(link, group.lowest() ? any_source : group.rank_of(0), tag);
    Requests sent;
    Fault fault;
    std::string statement;
    std::set<int> awaited;  // ranks whose text has not come
    for (int member = group.lowest() ? 1 : 0; member < (group.lowest() ? group.size() : 1);
         ++member)
        awaited.insert(group.rank_of(member));
    const auto all = awaited;
    bool is_ready = false, decided = false;
    When over([&] {
        try {
            if (!fault && !decided) is_ready = ready();
            if (!fault && decided) serve();
        } catch (const Error&) {
            if (!decided) fault = Fault::current();
        }
        while (!awaited.empty()) {
            const auto text = texts.next();
            if (!text) break;
            awaited.erase(text->from);
            Unpacker in(text->text);
            const Fault theirs = Fault::unpacked(in);
            if (fault || !theirs) continue;
            fault = theirs;
            if (!group.lowest()) continue;
            const auto by = std::find(group.members.begin(), group.members.end(), text->from);
            fault.message = "process " + std::to_string(by - group.members.begin()) + " of " +
                            std::to_string(group.size()) + ": " + theirs.message;
        }
        const bool ends = fault || (is_ready && (!group.lowest() || awaited.empty()));
        if (ends && !std::exchange(decided, true)) {
            Packer packer;
            fault.pack(packer);
            statement = packer.take();
            for (const int rank : all) link.send_text(sent, statement, rank, tag);
        }
        for (const int rank : awaited) link.need(rank);
        return sent.holds() && decided && awaited.empty();
    });
    co_await until(over);
    if (fault) fault.raise();
}

}  // namespace hocket::comm

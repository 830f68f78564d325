// SPDX-License-Identifier: BSD-3-Clause
#include "base/bell.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <xbt/sysdep.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>

#include "base/port.hpp"

namespace hocket::bell {
namespace {

using Words = std::pair<int, int>;  // the sender and the tag

struct Bell {
    sg_host_t host = nullptr;
    double news_at = 0;         // when it was rung last, or a message could have ended
    int untold = 0;             // requests of which nobody tells when they can end
    std::multiset<double> due;  // when those that travel end, if they have the links for themselves
    int late = 0;               // those that should have ended
    int gone = 0;               // sends that end at once, and were not found to have ended
    std::map<Words, std::queue<std::int64_t>> early;  // bytes that nobody receives yet
    std::map<Words, int> open;                        // receives that nobody has sent to
    bool rung = false, waits = false;
    sg_sem_t door = nullptr;
};
using Bells = std::map<int, Bell>;

// Each simulated process has globals of its own, in one memory: the first one hangs what all share
// on the first host of the platform.
Bells& all() {
    static Bells* const bells = [] {
        sg_host_t* const hosts = sg_host_list();
        sg_host_t const first = hosts[0];
        xbt_free(hosts);
        if (sg_host_get_data(first) == nullptr) sg_host_set_data(first, new Bells);
        return static_cast<Bells*>(sg_host_get_data(first));
    }();
    return *bells;
}

Bell* mine = nullptr;
int number = 0;

void wake(Bell& bell) {
    if (bell.rung) return;
    bell.rung = true;
    if (bell.waits) sg_sem_release(bell.door);
}

constexpr std::int64_t detached = 65536;  // SMPI's sends of less end at once

// SMPI moves a message from when both ends are there.
void travel(Bell& from, Bell& to, std::int64_t bytes) {
    const double lasts =
        sg_host_get_route_latency(from.host, to.host) +
        static_cast<double>(bytes) / sg_host_get_route_bandwidth(from.host, to.host);
    const double at = port::seconds() + lasts * (1 + 1e-9) + 1e-9;  // SMPI adds in another order
    to.due.insert(at);
    if (bytes >= detached) {
        from.due.insert(at);
        wake(from);  // it may be to look sooner than it had thought
    }
}

}  // namespace

void own(int process) {
    number = process;
    mine = &all()[process];
    if (mine->door != nullptr) return;
    mine->door = sg_sem_init(0);
    mine->host = sg_host_self();
}

void expect(int requests) {
    if (mine != nullptr) mine->untold += requests;
}

void done(int messages) {
    if (mine == nullptr) return;
    for (; messages > 0; --messages)
        if (mine->gone > 0)
            --mine->gone;
        else if (!mine->due.empty() && *mine->due.begin() <= port::seconds())
            mine->due.erase(mine->due.begin());
        else if (mine->late > 0)
            --mine->late;
}

void ring(int process, int tag, std::int64_t bytes) {
    Bell& bell = all()[process];
    bell.news_at = port::seconds();
    if (bytes < detached) ++mine->gone;
    if (int& open = bell.open[{number, tag}]; open > 0) {
        --open;
        travel(*mine, bell, bytes);
    } else {
        bell.early[{number, tag}].push(bytes);
    }
    wake(bell);
}

void await(int process, int tag) {
    auto& early = mine->early[{process, tag}];
    if (early.empty()) {
        ++mine->open[{process, tag}];
        return;
    }
    travel(all()[process], *mine, early.front());
    early.pop();
}

void doze(double waited) {
    constexpr double shortest = 1e-6, part = 10;
    if (mine == nullptr) {
        port::sleep(waited / part);
        return;
    }
    if (!mine->rung) {
        const double now = port::seconds();
        for (; !mine->due.empty() && *mine->due.begin() <= now; ++mine->late) {
            mine->due.erase(mine->due.begin());
            mine->news_at = now;
        }
        // With nothing that travels only a ring changes anything, or the clock: a deadline.
        double rest = 20 * shortest + waited / 2;
        if (mine->late > 0 || mine->untold > 0)
            rest = shortest + std::min(waited, now - mine->news_at) / part;
        else if (!mine->due.empty())
            rest = *mine->due.begin() - now;
        if (!mine->due.empty()) rest = std::min(rest, *mine->due.begin() - now);
        mine->waits = true;
        sg_sem_acquire_timeout(mine->door, rest);
        mine->waits = false;
    }
    mine->rung = false;
}

}  // namespace hocket::bell

#endif

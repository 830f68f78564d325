// SPDX-License-Identifier: BSD-3-Clause
#include "base/bell.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <xbt/sysdep.h>

#include <algorithm>
#include <map>

#include "base/port.hpp"

namespace hocket::bell {
namespace {

struct Bell {
    double rung_at = 0;
    int expected = 0;  // messages under way
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

}  // namespace

void own(int process) {
    mine = &all()[process];
    if (mine->door == nullptr) mine->door = sg_sem_init(0);
}

void expect(int messages) {
    if (mine != nullptr) mine->expected += messages;
}

void ring(int process) {
    Bell& bell = all()[process];
    ++bell.expected;
    bell.rung_at = port::seconds();
    if (bell.rung) return;
    bell.rung = true;
    if (bell.waits) sg_sem_release(bell.door);
}

void doze(double waited) {
    constexpr double shortest = 1e-6, part = 10;
    if (mine == nullptr) {
        port::sleep(waited / part);
        return;
    }
    if (!mine->rung) {
        const double since = std::min(waited, port::seconds() - mine->rung_at);
        mine->waits = true;
        // With nothing under way only a ring changes anything, or the clock: a deadline.
        sg_sem_acquire_timeout(
            mine->door, mine->expected > 0 ? shortest + since / part : 20 * shortest + waited / 2);
        mine->waits = false;
    }
    mine->rung = false;
}

}  // namespace hocket::bell

#endif

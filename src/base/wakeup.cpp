// SPDX-License-Identifier: BSD-3-Clause
#include "base/wakeup.hpp"

#ifdef HOCKET_SIMULATED

#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <xbt/config.h>
#include <xbt/sysdep.h>

#include <cstdint>
#include <map>
#include <queue>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Link.hpp>
#include <utility>
#include <vector>

#include "base/platform.hpp"

namespace hocket::wakeup {
namespace {

using simgrid::kernel::resource::Action;
using simgrid::kernel::timer::Timer;
using Words = std::pair<int, int>;  // the sender and the tag

struct Process {
    std::map<Words, std::queue<std::int64_t>> early;  // bytes that nobody receives yet
    std::map<Words, int> open;                        // receives without a matching send
    bool woken = false, waits = false;
    sg_sem_t semaphore = nullptr;

    void wake() {
        if (woken) return;
        woken = true;
        if (waits) sg_sem_release(semaphore);
    }
};

// SMPI's addition to each message: its tag, its ends and its communicator.
constexpr std::int64_t envelope = 16;

// For messages of equal size that began together, the network does not report which one ends.
struct SameMessages {
    std::vector<Process*> ends;
    int under_way = 0;
};

// Each simulated process has its own globals in one memory: the first process attaches the shared
// data to the first host of the platform.
struct Shared {
    std::map<int, Process> processes;
    std::map<std::pair<double, double>, SameMessages> messages;  // by their start, and their bytes
    std::vector<Process*> completed;  // by the network, and not handled yet
    int detached = sg_cfg_get_int("smpi/send-is-detached-thresh");  // shorter sends end at once

    // SMPI moves a message once both ends are present.
    void begins(Process& from, Process& to, std::int64_t bytes) {
        SameMessages& alike =
            messages[{simgrid_get_clock(), static_cast<double>(bytes + envelope)}];
        alike.ends.push_back(&to);
        if (bytes >= detached) alike.ends.push_back(&from);
        ++alike.under_way;
    }

    // SimGrid calls this within a step of its clock, when no process may resume. A timer for the
    // same moment fires after the step.
    void ended(const Action& message) {
        if (completed.empty()) Timer::set(simgrid_get_clock(), [this] { wake_completed(); });
        const auto found = messages.find({message.get_start_time(), message.get_cost()});
        if (found == messages.end()) {  // MPI's own message
            for (auto& [process, process_state] : processes) completed.push_back(&process_state);
            return;
        }
        completed.insert(completed.end(), found->second.ends.begin(), found->second.ends.end());
        if (--found->second.under_way == 0) messages.erase(found);
    }

    void wake_completed() {
        for (Process* const process_state : std::exchange(completed, {})) process_state->wake();
    }
};

Shared* made() {
    auto* const shared = new Shared;
    simgrid::s4u::Link::on_communication_state_change_cb(
        [shared](const simgrid::kernel::resource::NetworkAction& message, Action::State) {
            // SimGrid's headers do not declare the relation.
            const auto& action = reinterpret_cast<const Action&>(message);
            if (action.get_state() != Action::State::STARTED) shared->ended(action);
        });
    return shared;
}

Shared& all() {
    static Shared* const shared = [] {
        sg_host_t* const hosts = sg_host_list();
        sg_host_t const first = hosts[0];
        xbt_free(hosts);
        if (sg_host_get_data(first) == nullptr) sg_host_set_data(first, made());
        return static_cast<Shared*>(sg_host_get_data(first));
    }();
    return *shared;
}

Process* mine = nullptr;
int number = 0;

}  // namespace

void set_rank(int process) {
    number = process;
    mine = &all().processes[process];
    if (mine->semaphore == nullptr) mine->semaphore = sg_sem_init(0);
}

void sent(int process, int tag, std::int64_t bytes) {
    Process& process_state = all().processes[process];
    if (int& open = process_state.open[{number, tag}]; open > 0) {
        --open;
        all().begins(*mine, process_state, bytes);
    } else {
        process_state.early[{number, tag}].push(bytes);
    }
    process_state.wake();
}

void receiving(int process, int tag) {
    auto& early = mine->early[{process, tag}];
    if (early.empty()) {
        ++mine->open[{process, tag}];
        return;
    }
    all().begins(all().processes[process], *mine, early.front());
    early.pop();
}

void after(double seconds, bool& reached) {
    Timer::set(simgrid_get_clock() + seconds, [&reached, process_state = mine] {
        reached = true;
        if (process_state != nullptr) process_state->wake();
    });
}

void sleep(double waited) {
    constexpr double shortest = 1e-3;
    if (mine == nullptr) {  // without wake-ups
        platform::sleep(waited / 10);
        return;
    }
    if (!mine->woken) {
        // Not the semaphore's own timeout, which SimGrid 3.32 may fire in the step of a release.
        Timer* timer =
            Timer::set(simgrid_get_clock() + shortest + waited, [&timer, process_state = mine] {
                timer = nullptr;
                process_state->wake();
            });
        mine->waits = true;
        sg_sem_acquire(mine->semaphore);
        mine->waits = false;
        if (timer != nullptr) timer->remove();
    }
    mine->woken = false;
}

}  // namespace hocket::wakeup

#endif

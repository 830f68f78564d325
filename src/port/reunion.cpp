// SPDX-License-Identifier: BSD-3-Clause
#include "port/reunion.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "hocket/transfer.hpp"
#include "port/meeting.hpp"

namespace hocket::port {
namespace {

constexpr double default_seconds = 60, between_tries = 0.05;

// After each try process 0 decides for all, which have got the same error.
JobTasks repeated(const Comm& comm, const std::string& why, double seconds,
                  const Deadline& deadline, const std::function<JobTasks(const Deadline&)>& meet) {
    const Deadline both = Deadline::in(seconds).sooner(deadline);
    const auto met = [&]() -> std::optional<JobTasks> {
        try {
            return meet(both);
        } catch (const DeadlineError&) {
            return std::nullopt;
        } catch (const JobLostError&) {  // again, while the jobs met
            return std::nullopt;
        }
    };
    for (;;) {
        if (std::optional<JobTasks> tasks = met()) return std::move(*tasks);
        const std::string over = tell(comm,
                                      deadline.passed() ? "deadline"
                                      : both.passed()   ? "lost"
                                                        : "",
                                      0);
        if (over == "deadline")
            throw DeadlineError(why + "; it has not come back within " +
                                text::seconds(deadline.timeout()));
        if (over == "lost")
            throw JobLostError(why + "; it has not come back within " + text::seconds(seconds));
        platform::sleep(between_tries);
    }
}

}  // namespace

MeetAgain accept_again(std::shared_ptr<State> port, std::string task, double seconds) {
    if (seconds <= 0) seconds = default_seconds;
    return [port = std::move(port), task = std::move(task), seconds](const std::string& why,
                                                                     const Deadline& deadline) {
        if (port->closed)
            throw JobLostError(why + "; it cannot come back, because the port '" + port->name +
                               "' was closed");
        return repeated(port->comm, why, seconds, deadline,
                        [&](const Deadline& until) { return accept_job(port, {}, task, until); });
    };
}

MeetAgain connect_again(const Comm& comm, std::string name, ConnectOptions options) {
    options.resume.clear();  // the channels know their last frames
    return [comm, name = std::move(name), options = std::move(options)](
               const std::string& why, const Deadline& deadline) mutable {
        return repeated(comm, why, options.reconnect, deadline, [&](const Deadline& until) {
            options.deadline = until;
            return connect_job(name, comm, options, true);
        });
    };
}

}  // namespace hocket::port

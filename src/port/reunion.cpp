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

class AcceptAgain final : public task::Reunion {
  public:
    AcceptAgain(std::shared_ptr<State> port, std::string task, double seconds)
        : port_(std::move(port)), task_(std::move(task)), seconds_(seconds) {}
    JobTasks meet_again(const std::string& why, const Deadline& deadline) override {
        if (port_->closed)
            throw JobLostError(why + "; it cannot come back, because the port '" + port_->name +
                               "' was closed");
        return repeated(port_->comm, why, seconds_, deadline,
                        [&](const Deadline& until) { return accept_job(port_, {}, task_, until); });
    }

  private:
    std::shared_ptr<State> port_;
    std::string task_;
    double seconds_;
};

class ConnectAgain final : public task::Reunion {
  public:
    ConnectAgain(Comm comm, std::string name, ConnectOptions options)
        : comm_(std::move(comm)), name_(std::move(name)), options_(std::move(options)) {
        options_.resume.clear();  // the channels know their last frames
    }
    JobTasks meet_again(const std::string& why, const Deadline& deadline) override {
        return repeated(comm_, why, options_.reconnect, deadline, [&](const Deadline& until) {
            options_.deadline = until;
            return connect_job(name_, comm_, options_, true);
        });
    }

  private:
    Comm comm_;
    std::string name_;
    ConnectOptions options_;
};

}  // namespace

std::shared_ptr<task::Reunion> accept_again(std::shared_ptr<State> port, std::string task,
                                            double seconds) {
    return std::make_shared<AcceptAgain>(std::move(port), std::move(task),
                                         seconds > 0 ? seconds : default_seconds);
}

std::shared_ptr<task::Reunion> connect_again(const Comm& comm, std::string name,
                                             ConnectOptions options) {
    return std::make_shared<ConnectAgain>(comm, std::move(name), std::move(options));
}

}  // namespace hocket::port

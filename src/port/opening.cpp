// SPDX-License-Identifier: BSD-3-Clause
#include "port/opening.hpp"

#include <algorithm>
#include <utility>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/texts.hpp"
#include "task/member.hpp"

namespace hocket::port {
namespace {

constexpr double between_looks = 0.001, after_a_loss = 1;  // seconds

int acceptors_of(const Meeting& meeting) {
    return static_cast<int>(meeting.addresses.size());
}

int connectors_of(const Meeting& meeting) {
    return static_cast<int>(meeting.connectors);
}

class Asking final : public Operation {
  public:
    Asking(const std::shared_ptr<Tasks::State>& tasks, const Meeting& meeting, bool is_acceptor,
           const std::shared_ptr<Opening>& opening)
        : tasks_(tasks),
          acceptors_(acceptors_of(meeting)),
          is_acceptor_(is_acceptor),
          opening_(opening),
          texts_(*tasks->link, comm::any_source, tasks->link->asking_tag()) {
        const int process = tasks->link->rank() - tasks->link->first_own();
        standing_ = standing_of(meeting, is_acceptor, process) + (is_acceptor ? acceptors_ : 0);
    }
    bool poll() override {
        const auto tasks = tasks_.lock();
        const auto opening = opening_.lock();
        if (!tasks || !opening) return true;
        const double now = platform::seconds();
        if (now < next_look_) return false;
        next_look_ = now + between_looks;
        comm::Link& link = *tasks->link;
        opening->advance();
        std::erase_if(sending_, [](const auto& one) {
            try {
                return one->poll();
            } catch (const Error&) {
                return true;  // who waits for a lost process finds it lost
            }
        });
        for (const int process : opening->asked())
            send(link, standing_, link.rank(), acceptors_ + process);
        // An endpoint that looks for its loss goes on with its dial.
        for (const int process : opening->dialling())
            static_cast<void>(link.endpoint(process)->lost());
        if (is_acceptor_) return false;
        while (const auto asked = next()) {
            const auto& [from, acceptor, connector] = *asked;
            if (acceptor < 0 || acceptor >= acceptors_ || connector < acceptors_ ||
                connector >= link.size())
                continue;
            if (connector == link.rank())
                static_cast<void>(link.endpoint(static_cast<int>(acceptor))->lost());
            else if (link.endpoint(from) != nullptr)
                send(link, static_cast<int>(connector), static_cast<int>(acceptor),
                     static_cast<int>(connector));
        }
        return false;
    }
    bool leave() override { return true; }
    std::string text() const override { return "connections with another job"; }

  private:
    struct Asked {
        int from;
        std::int64_t acceptor, connector;
    };
    // No error of one process ends the requests of the others.
    std::optional<Asked> next() {
        for (;;) {
            try {
                const auto text = texts_.next();
                if (!text) return std::nullopt;
                Unpacker in(text->text);
                const std::int64_t acceptor = in.number(), connector = in.number();
                return Asked{text->from, acceptor, connector};
            } catch (const JobLostError&) {
                return std::nullopt;
            } catch (const Error&) {
                continue;  // a text that is no request
            }
        }
    }
    void send(comm::Link& link, int to, int acceptor, int connector) {
        sending_.push_back(std::make_shared<comm::Call>(
            comm::send_text(link, Packer().number(acceptor).number(connector).take(), to,
                            link.asking_tag()),
            "a request to dial"));
    }

    std::weak_ptr<Tasks::State> tasks_;
    int acceptors_, standing_ = 0;
    bool is_acceptor_;
    std::weak_ptr<Opening> opening_;
    comm::Texts texts_;
    std::vector<std::shared_ptr<comm::Call>> sending_;
    double next_look_ = 0;
};

}  // namespace

void Opening::lose(const std::string& why) {
    if (!std::exchange(lost_, why).empty()) return;
    lost_at_ = platform::seconds();
}

std::optional<std::string> Opening::lost() const {
    if (lost_.empty() || platform::seconds() < lost_at_ + after_a_loss) return std::nullopt;
    return lost_;
}

bool stands(const Meeting& meeting, int acceptor, int connector) {
    if (!meeting.by_socket) return true;
    const int acceptors = acceptors_of(meeting), connectors = connectors_of(meeting);
    return acceptors >= connectors ? connector == acceptor % connectors
                                   : acceptor == connector % acceptors;
}

int standing_of(const Meeting& meeting, bool is_acceptor, int process) {
    return process % (is_acceptor ? connectors_of(meeting) : acceptors_of(meeting));
}

Reception::Reception(std::unique_ptr<Listener> own, const Meeting& meeting, int process,
                     std::vector<std::string> sockets, std::shared_ptr<Listener> port)
    : own_(std::move(own)), port_(std::move(port)), session_(meeting.session) {
    const auto connectors = static_cast<std::size_t>(meeting.connectors);
    arrived_.resize(connectors);
    come_.resize(connectors);
    for (int other = 0; other < connectors_of(meeting); ++other)
        standing_.push_back(stands(meeting, process, other));
    own_->forward(session_, sockets);
    if (port_) port_->forward(session_, std::move(sockets));
}

Reception::~Reception() {
    end_meeting();
}

void Reception::end_meeting() {
    if (!port_) return;
    port_->forward(session_, {});
    port_.reset();
}

void Reception::advance() {
    const double now = platform::seconds();
    if (now < next_look_) return;
    next_look_ = now + between_looks;
    while (auto client = own_->next()) {
        const auto number = static_cast<std::size_t>(client->hello.process);
        if (client->hello.role != net::Role::process || client->hello.session != session_ ||
            number >= come_.size() || come_[number]) {
            Listener::refuse(*client->connection, "this process waits for another job");
            continue;
        }
        own_->welcome(*client, "");
        come_[number] = true;
        arrived_[number] = std::move(client->connection);
    }
    for (const auto& connection : arrived_) {
        try {
            if (connection) static_cast<void>(connection->flush());
        } catch (const Error&) {
            continue;  // as its stream finds
        }
    }
}

std::unique_ptr<net::Connection> Reception::connection(int process, bool wanted) {
    advance();
    const auto number = static_cast<std::size_t>(process);
    if (wanted && !come_[number] && asked_.insert(process).second) asks_.push_back(process);
    return std::move(arrived_[number]);
}

int Reception::missing() {
    advance();
    int missing = 0;
    bool sent = true;
    for (std::size_t other = 0; other < standing_.size(); ++other) {
        if (!standing_[other]) continue;
        if (!come_[other]) ++missing;
        if (arrived_[other]) sent = arrived_[other]->queued() == 0 && sent;
    }
    return missing == 0 && !sent ? -1 : missing;
}

Dialler::Dialler(Meeting meeting, std::string name, const ConnectOptions& options, int process)
    : meeting_(std::move(meeting)),
      name_(std::move(name)),
      key_(options.key),
      secure_(options.secure),
      process_(process) {
    for (int other = 0; other < acceptors_of(meeting_); ++other)
        static_cast<void>(options_to(other));
}

net::DialOptions Dialler::options_to(int process) const {
    const ProcessAddress& reached = meeting_.addresses[static_cast<std::size_t>(process)];
    net::DialOptions how;
    how.key = key_;
    how.secure = secure_;
    how.wanted = net::Right::join;
    how.timeout = 1e9;  // a process that computes answers later
    how.route = net::Route{meeting_.session, static_cast<std::uint32_t>(process)};
    const bool here = meeting_.local && reached.host == platform::host_name();
    const bool at_port = reached.address == ProcessAddress::of_port;
    if (!here && (reached.address.empty() || (at_port && !net::address_of(name_))))
        throw Error("a process of '" + meeting_.acceptor + "' is on host '" + reached.host +
                    "', which this one reaches by a key only; open the port with a key (key=) and "
                    "connect to its address with it");
    how.port = here ? reached.socket : at_port ? name_ : reached.address;
    if (here) how.secure = true;
    return how;
}

bool Dialler::dial(int process) {
    auto& dial = dials_[process];
    if (!dial) {
        net::Hello hello;
        hello.role = net::Role::process;
        hello.instance = net::new_instance();
        hello.processes = meeting_.connectors;
        hello.process = process_;
        hello.session = meeting_.session;
        dial = std::make_unique<net::Dial>(options_to(process), hello);
    }
    return dial->poll();
}

std::unique_ptr<net::Connection> Dialler::connection(int process, bool wanted) {
    const auto found = dials_.find(process);
    if ((found == dials_.end() && !wanted) || !dial(process)) return nullptr;
    auto connection = dials_[process]->take();
    dials_.erase(process);
    return connection;
}

bool Dialler::awaits(int process) const {
    const auto found = dials_.find(process);
    return found != dials_.end() && found->second && found->second->reached();
}

std::vector<int> Dialler::dialling() const {
    std::vector<int> processes;
    for (const auto& [process, dial] : dials_) processes.push_back(process);
    return processes;
}

void keep_opening(const std::shared_ptr<Tasks::State>& tasks, const Meeting& meeting,
                  bool is_acceptor, const std::shared_ptr<Opening>& opening) {
    comm::Engine::instance().post_background(
        std::make_shared<Asking>(tasks, meeting, is_acceptor, opening));
}

}  // namespace hocket::port

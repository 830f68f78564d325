// SPDX-License-Identifier: BSD-3-Clause
// Clients that a port lets in: observers, and jobs that wait to be accepted.
#include "port/host.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t most_connectors = 64;

// Whether a job that waits to be accepted has neither left nor said something before its time.
bool is_there(Client& client) {
    try {
        return !client.connection->receive();
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void Host::admit_clients() {
    const auto refuse = [](Client& client, const std::string& why) {
        Listener::refuse(*client.connection, why);
    };
    while (auto client = entry_.listener()->next()) {
        if (!client->hello.port.empty() && client->hello.port != state_.name) {
            refuse(*client,
                   "this is the port '" + state_.name + "', not '" + client->hello.port + "'");
        } else if (finishing_) {
            refuse(*client, "the program is just closing this port");
        } else if (client->hello.role == net::Role::process) {
            refuse(*client, "this is no process that waits for one of another job");
        } else if (client->hello.role == net::Role::connector) {
            std::erase_if(connectors_, [](const auto& each) { return !is_there(*each); });
            if (connectors_.size() >= most_connectors)
                refuse(*client, "too many jobs wait to be accepted; try again later");
            else
                connectors_.push_back(std::move(client));
        } else if (observers_.size() >= most_observers) {
            refuse(*client,
                   std::to_string(most_observers) + " observers look on already; try again later");
        } else {
            entry_.listener()->welcome(*client, "");
            observers_.push_back(std::make_shared<ObserverConnection>(std::move(*client)));
        }
    }
}

std::unique_ptr<Client> Host::next_connector(const std::string& task) {
    for (auto it = connectors_.begin(); it != connectors_.end();) {
        if (!task.empty() && (*it)->hello.task != task) {
            ++it;
            continue;
        }
        auto client = std::move(*it);
        it = connectors_.erase(it);
        if (is_there(*client)) return client;
    }
    return nullptr;
}

}  // namespace hocket::port

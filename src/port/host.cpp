// SPDX-License-Identifier: BSD-3-Clause
#include "port/host.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t most_onlookers = 64, most_asked = 64, most_connectors = 64;
constexpr std::size_t most_queued = std::size_t{8} << 20;
constexpr std::size_t longest_part = std::size_t{1} << 20;
// Seconds without a byte taken, after which an observer is sent away.
constexpr double most_stuck = 10;

}  // namespace

void Onlooker::send(net::Say kind, const net::Writer& body, std::shared_ptr<const net::Bytes> owner,
                    std::span<const std::byte> shared) {
    if (present())
        connection->send(static_cast<std::uint8_t>(kind), body.bytes(), std::move(owner), shared);
}

void Onlooker::fail(std::int64_t number, const std::string& why) {
    net::Writer body;
    body.i64(number).text(why.substr(0, net::longest_text));
    send(net::Say::failed, body);
}

void Host::advance(bool polling) {
    if (!answers_ && state_.link && state_.comm.size() > 1)
        answers_.emplace(*state_.link, comm::any_source, State::answers);
    let_in();
    for (const Who& who : onlookers_) listen(who);
    if (std::exchange(catalog_changed_, false)) announce();
    hear_answers();
    propose(polling);
    if (collecting_ && collecting_->poll()) collecting_.reset();
    for (const Who& who : onlookers_) {
        if (!who->present()) continue;
        try {
            who->connection->flush();
            if (who->connection->stuck() > most_stuck) who->connection.reset();
        } catch (const Error&) {
            who->connection.reset();
        }
    }
    onlookers_.remove_if([](const Who& who) { return !who->present(); });
}

void Host::let_in() {
    const auto refuse = [](Client& client, const std::string& why) {
        Listener::refuse(*client.connection, why);
    };
    while (auto client = door_.listener().next()) {
        if (!client->hello.port.empty() && client->hello.port != state_.name) {
            refuse(*client,
                   "this is the port '" + state_.name + "', not '" + client->hello.port + "'");
        } else if (finishing_) {
            refuse(*client, "the program is just closing this port");
        } else if (client->hello.role == net::Role::process) {
            refuse(*client, "this is no process that waits for one of another job");
        } else if (client->hello.role == net::Role::connector) {
            if (connectors_.size() >= most_connectors)
                refuse(*client, "too many jobs wait to be accepted; try again later");
            else
                connectors_.push_back(std::move(client));
        } else if (onlookers_.size() >= most_onlookers) {
            refuse(*client,
                   std::to_string(most_onlookers) + " observers look on already; try again later");
        } else {
            door_.listener().welcome(*client, "");
            onlookers_.push_back(
                std::make_shared<Onlooker>(Onlooker{std::move(client->connection), client->right}));
            catalog_changed_ = true;
        }
    }
}

std::unique_ptr<Client> Host::next_connector() {
    while (!connectors_.empty()) {
        auto client = std::move(connectors_.front());
        connectors_.pop_front();
        try {
            if (!client->connection->receive()) return client;
        } catch (const Error&) {
            continue;  // it has left
        }
    }
    return nullptr;
}

void Host::listen(const Who& who) {
    if (!who->present()) return;
    try {
        while (const auto frame = who->connection->receive()) {
            net::Reader reader(frame->body);
            switch (static_cast<net::Say>(frame->kind)) {
                case net::Say::look: {
                    net::Look look = net::read_look(reader);
                    reader.end();
                    ask(who, std::move(look));
                    break;
                }
                case net::Say::set: {
                    net::Set set = net::read_set(reader);
                    reader.end();
                    ask(who, std::move(set));
                    break;
                }
                default:
                    throw Error("a message has kind " + std::to_string(frame->kind));
            }
        }
    } catch (const net::Disconnected&) {
        who->connection.reset();
    } catch (const Error& error) {
        Listener::refuse(*who->connection, error.what());
        who->connection.reset();
    }
}

void Host::ask(const Who& who, net::Look look) {
    const auto others = std::count_if(looks_.begin(), looks_.end(),
                                      [&](const AskedLook& asked) { return asked.who == who; });
    if (static_cast<std::size_t>(others) >= most_asked)
        return who->fail(look.number, "too many sections are asked for at once; wait for some");
    try {
        const Array* const array = state_.array(look.name);
        if (array == nullptr) throw Error("the program has published no array '" + look.name + "'");
        if (look.slices.size() != array->layout().dimensions())
            throw Error("'" + look.name + "' has " + std::to_string(array->layout().dimensions()) +
                        " dimensions, and " + std::to_string(look.slices.size()) +
                        " slices were asked for");
        static_cast<void>(array->layout().section(look.slices));
    } catch (const Error& error) {
        return who->fail(look.number, error.what());
    }
    looks_.push_back({who, std::move(look)});
}

void Host::ask(const Who& who, net::Set set) {
    if (who->right < net::Right::steer)
        return who->fail(set.number,
                         "this key lets you look on, not steer; ask the owner for another one");
    const auto now = state_.parameter(set.name);
    std::vector<std::string> names;
    for (const auto& [name, value] : state_.parameters) names.push_back(name);
    if (!now)
        return who->fail(set.number, "the program has no parameter '" + set.name + "'" +
                                         text::did_you_mean(set.name, names) + "; it has " +
                                         (names.empty() ? "none" : text::quoted_list(names)));
    if (const auto* whole = std::get_if<std::int64_t>(&set.value)) {
        if (std::holds_alternative<double>(*now)) set.value = static_cast<double>(*whole);
        if (std::holds_alternative<bool>(*now) && (*whole == 0 || *whole == 1))
            set.value = *whole == 1;
    }
    if (set.value.index() != now->index()) {
        const std::vector<std::string> types{"a flag", "an integer", "a real number", "a text"};
        return who->fail(set.number, "the parameter '" + set.name + "' is " + types[now->index()] +
                                         ", and " + types[set.value.index()] + " was given");
    }
    if (sets_.size() >= most_asked * most_onlookers)
        return who->fail(set.number, "too many values are waiting for the next poll");
    sets_.push_back({who, std::move(set)});
}

void Host::announce() {
    net::Catalog catalog;
    catalog.poll = state_.polls;
    for (const auto& [name, array] : state_.arrays)
        catalog.arrays.push_back(
            {name, array.dtype().name, array.dtype().size, array.layout().shape()});
    for (const auto& [name, value] : state_.parameters)
        catalog.parameters.emplace_back(name, *value);
    net::Writer body;
    net::write(body, catalog);
    for (const Who& who : onlookers_) who->send(net::Say::catalog, body);
}

// One section after the other, one part after the other: process 0 holds a few parts at most, as
// the others keep theirs until it receives them.
comm::Protocol<> Host::collect(std::vector<AskedLook> looks, OwnParts own, std::int64_t poll) {
    for (std::size_t k = 0; k < looks.size(); ++k) {
        const AskedLook& asked = looks[k];
        const Array* const array = state_.array(asked.look.name);
        if (array == nullptr) continue;
        const std::int64_t itemsize = array->dtype().size;
        std::optional<Layout> section;
        try {
            section = array->layout().section(asked.look.slices);
        } catch (const Error& error) {
            asked.who->fail(asked.look.number, error.what());
        }
        if (!section) continue;
        net::Picture picture;
        picture.number = asked.look.number;
        picture.poll = poll;
        picture.layout = section->text();
        for (std::int64_t process = 0; process < section->size(); ++process)
            if (gives_part(*section, process))
                picture.parts.emplace_back(process, section->local_elements(process) * itemsize);
        net::Writer body;
        net::write(body, picture);
        asked.who->send(net::Say::picture, body);
        co_await collect_one(asked, *section, itemsize, own[k]);
    }
}

comm::Protocol<> Host::collect_one(const AskedLook& asked, const Layout& section,
                                   std::int64_t itemsize, std::shared_ptr<const net::Bytes> own) {
    Onlooker& who = *asked.who;
    comm::When room([&] { return !who.present() || who.connection->queued() < most_queued; });
    for (std::int64_t process = 0; process < section.size(); ++process) {
        if (!gives_part(section, process)) continue;
        co_await comm::until(room);
        std::shared_ptr<const net::Bytes> part = own;
        if (process != 0) {
            const auto bytes = section.local_elements(process) * itemsize;
            auto received = std::make_shared<net::Bytes>(static_cast<std::size_t>(bytes));
            comm::Requests requests;
            state_.link->receive(requests, received->data(), bytes, static_cast<int>(process),
                                 State::elements);
            co_await comm::until(requests);
            part = std::move(received);
        }
        for (std::size_t first = 0; first < part->size(); first += longest_part) {
            const auto bytes =
                std::span(*part).subspan(first, std::min(longest_part, part->size() - first));
            net::Writer body;
            body.i64(asked.look.number).i64(process).i64(static_cast<std::int64_t>(first));
            who.send(net::Say::part, body, part, bytes);
        }
    }
}

bool Host::finish() {
    finishing_ = true;
    if (state_.agreed) {
        tell_all(decision(state_.agreed->round, false));
        state_.agreed.reset();
    }
    return !collecting_;
}

void Host::end(const std::string& why) {
    net::Writer body;
    body.text(why);
    for (const Who& who : onlookers_) {
        who->send(net::Say::ended, body);
        try {
            if (who->present()) who->connection->flush();
        } catch (const Error&) {
            who->connection.reset();
        }
    }
    onlookers_.clear();
}

}  // namespace hocket::port

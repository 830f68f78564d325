// SPDX-License-Identifier: BSD-3-Clause
#include "port/entry.hpp"

#include <netdb.h>
#include <unistd.h>

#include "base/platform.hpp"
#include "base/text.hpp"

namespace hocket::port {
namespace {

// By which other hosts may know this one.
std::string known_host_name() {
    std::string name = platform::host_name();
    addrinfo* found = nullptr;
    if (name.empty() || ::getaddrinfo(name.c_str(), nullptr, nullptr, &found) != 0)
        return "127.0.0.1";
    ::freeaddrinfo(found);
    return name;
}

}  // namespace

Entry::Entry(const EntryOptions& options) {
    if (!net::is_name(options.name))
        throw Error(text::quoted(options.name) +
                    " is no name of a port; give 1 to 64 letters, digits, '.', '_' and '-'");
    const bool listens = !options.address.empty() || !options.key.empty();
    if (!options.key.empty() && !options.secure)
        throw Error("a key encrypts, but 'secure' is false; leave out one of them");
    if (!options.secure && options.address.empty())
        throw Error(
            "'secure' is about other hosts; give the address, host:port, at which the port "
            "listens for them");
    file_ = net::new_port_file(options.name);
    Listener::Options how{file_.socket, std::nullopt, nullptr, options.secure};
    file_.processes = options.processes;
    file_.key = options.key;
    if (listens) {
        const std::string asked = options.address.empty() ? "0.0.0.0:0" : options.address;
        how.address = net::address_of(asked);
        if (!how.address)
            throw Error("'" + asked + "' is no address; give host:port, as 'node17:0'");
    }
    if (listens && options.secure) {
        net::require_tls();
        if (options.key.empty()) {
            file_.key = file_.socket + ".key";
            ::unlink(file_.key.c_str());
            net::Key::make(file_.key);
            made_key_ = true;
        }
        how.key = std::make_shared<const net::Key>(net::Key::read(file_.key));
    }
    try {
        listener_ = std::make_shared<Listener>(how);
        if (listens) {
            const bool any = how.address->host == "0.0.0.0" || how.address->host == "::";
            const std::string host = any ? known_host_name() : how.address->host;
            file_.address = (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
                            std::to_string(listener_->number());
        }
        net::add_port(file_);
    } catch (const Error&) {
        if (made_key_) ::unlink(file_.key.c_str());
        throw;
    }
}

Entry::~Entry() {
    net::remove_port(file_);
    if (made_key_ && file_.process == ::getpid()) ::unlink(file_.key.c_str());
}

}  // namespace hocket::port

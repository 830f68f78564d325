// SPDX-License-Identifier: BSD-3-Clause
// Where ports of this user on this host are found: a folder that only this user may enter, with a
// file for each port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hocket::net {

/// The entries of a port's file.
struct PortFile {
    std::string name;
    std::int64_t process = 0, start = 0;  // who made it, and when that process began (/proc)
    std::string space;                    // of process ids: containers have their own
    std::string socket;                   // path of the Unix socket
    std::string address;                  // host:port; "": none
    std::string key;                      // path of the key file; "": none
    std::int64_t processes = 1;
};

/// The folder, made if it is missing: $XDG_RUNTIME_DIR/hocket, or /tmp/hocket-UID.
/// @throws Error where it belongs to someone else, is a link, or is open to others.
std::string port_folder();

/// Fills in who this process is.
PortFile new_port_file(const std::string& name);
/// Puts it in the folder. A file whose process has ended is replaced. @throws Error where the name
/// is taken.
void add_port(const PortFile& file);
/// Removes it and its socket, if it is still this process's own.
void remove_port(const PortFile& file);

/// Ports of this user whose processes live, by name; those that have ended are left out.
std::vector<PortFile> live_ports();
std::optional<PortFile> find_port(const std::string& name);

/// The values of such a file. @throws Error for what is none.
PortFile parse_port_file(const std::string& text);

}  // namespace hocket::net

// SPDX-License-Identifier: BSD-3-Clause
#include "net/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "net/descriptor.hpp"
#include "net/hello.hpp"

namespace hocket::net {
namespace {

constexpr std::string_view ending = ".port", first_line = "hocket port 1";
constexpr std::size_t longest_file = 4096;

[[noreturn]] void fail_folder(const std::string& what) {
    throw Error("cannot " + what + ": " + std::strerror(errno));
}

// Folders where ports of this user may be; the first is where this process puts its own. A job
// of a batch system may have no XDG_RUNTIME_DIR where a login shell has one.
std::vector<std::string> folders() {
    std::vector<std::string> found;
    const std::string user = std::to_string(::geteuid());
    if (const auto runtime = environment::value_of("XDG_RUNTIME_DIR")) {
        struct stat status {};
        if (::stat(runtime->c_str(), &status) == 0 && status.st_uid == ::geteuid())
            found.push_back(*runtime + "/hocket");
    }
    found.push_back("/tmp/hocket-" + user);
    return found;
}

// A descriptor of the folder, once it is known to be ours alone; none if it is missing.
Descriptor open_folder(const std::string& path) {
    Descriptor folder(
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!folder && errno == ENOENT) return folder;
    struct stat status {};
    if (!folder || ::fstat(folder.get(), &status) != 0)
        fail_folder("open the folder of ports " + path);
    if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
        throw Error("the folder of ports '" + path + "' belongs to user " +
                    std::to_string(status.st_uid) +
                    " or is open to others, so that its files prove nothing; remove it, or set "
                    "XDG_RUNTIME_DIR to a folder of your own");
    return folder;
}

Descriptor make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail_folder("make the folder " + path);
    Descriptor folder = open_folder(path);
    if (!folder) fail_folder("open the folder of ports " + path);
    return folder;
}

std::string file_name(const std::string& name) {
    return name + std::string(ending);
}

std::string text_of(const PortFile& file) {
    std::ostringstream out;
    out << first_line << "\nname " << file.name << "\nprocess " << file.process << "\nstart "
        << file.start << "\nspace " << file.space << "\nsocket " << file.socket << "\naddress "
        << file.address << "\nkey " << file.key << "\nprocesses " << file.processes << "\n";
    return out.str();
}

std::optional<PortFile> read_port(const Descriptor& folder, const std::string& name) {
    const Descriptor file(
        ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid())
        return std::nullopt;
    std::string text(longest_file, '\0');
    const auto length = ::read(file.get(), text.data(), text.size());
    if (length < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(length));
    try {
        return parse_port_file(text);
    } catch (const Error&) {
        return std::nullopt;
    }
}

std::string space_of_processes() {
    std::array<char, 128> text{};
    const auto length = ::readlink("/proc/self/ns/pid", text.data(), text.size() - 1);
    return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "?";
}

// Clock tick at which a process began; 0: there is none.
std::int64_t start_of(std::int64_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_ends = text.rfind(')');
    if (name_ends == std::string::npos) return 0;
    std::istringstream rest(text.substr(name_ends + 1));
    std::string field, state;
    rest >> state;
    if (state == "Z" || state == "X") return 0;
    for (int k = 4; k <= 22; ++k) rest >> field;  // proc(5): starttime is field 22
    return text::whole_number(field).value_or(0);
}

using Entries = std::unique_ptr<DIR, int (*)(DIR*)>;

Entries entries_of(const Descriptor& folder) {
    return {::fdopendir(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
            &::closedir};
}

// Removes the sockets of processes that were killed. A new one may not listen yet.
void sweep(const Descriptor& folder, const std::string& path) {
    constexpr std::time_t settled = 60;  // seconds
    const Entries entries = entries_of(folder);
    while (const dirent* const entry = entries ? ::readdir(entries.get()) : nullptr) {
        struct stat status {};
        if (::fstatat(folder.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(status.st_mode) && status.st_mtime + settled < std::time(nullptr) &&
            is_abandoned(path + "/" + entry->d_name))
            ::unlinkat(folder.get(), entry->d_name, 0);
    }
}

// A process of another container has an id that says nothing here; its socket does.
bool lives(const PortFile& file) {
    if (file.space != space_of_processes()) return !is_abandoned(file.socket);
    return file.start != 0 && start_of(file.process) == file.start;
}

}  // namespace

std::string port_folder() {
    std::string path = folders().front();
    static_cast<void>(make_folder(path));
    return path;
}

PortFile parse_port_file(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    PortFile file;
    if (!std::getline(lines, line) || line != first_line) throw Error("this is no file of a port");
    const auto number = [&](const std::string& value) {
        const auto found = text::whole_number(value);
        if (!found) throw Error("the file of a port has the number '" + value + "'");
        return *found;
    };
    while (std::getline(lines, line)) {
        const std::size_t blank = line.find(' ');
        const std::string word = line.substr(0, blank);
        const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
        if (word == "name") file.name = value;
        if (word == "process") file.process = number(value);
        if (word == "start") file.start = number(value);
        if (word == "space") file.space = value;
        if (word == "socket") file.socket = value;
        if (word == "address") file.address = value;
        if (word == "key") file.key = value;
        if (word == "processes") file.processes = number(value);
    }
    if (!is_name(file.name) || file.socket.empty())
        throw Error("the file of a port has no name or no socket");
    return file;
}

PortFile new_port_file(const std::string& name) {
    PortFile file;
    file.name = name;
    file.process = ::getpid();
    file.start = start_of(file.process);
    file.space = space_of_processes();
    static std::atomic<int> made{0};  // by this process
    file.socket = port_folder() + "/" + name + "-" + std::to_string(file.process) + "-" +
                  std::to_string(made++);
    return file;
}

void add_port(const PortFile& file) {
    std::string path = folders().front();
    const Descriptor folder = make_folder(path);
    sweep(folder, path);
    // Of two that replace a stale file only one finds it.
    if (::flock(folder.get(), LOCK_EX) != 0) fail_folder("lock the folder of ports");
    const std::string name = file_name(file.name), made = name + "-" + std::to_string(file.process);
    if (const auto old = read_port(folder, name)) {
        if (lives(*old))
            throw Error("there is a port '" + file.name + "' already, of process " +
                        std::to_string(old->process) +
                        " on this host; choose another name, or end that program");
        ::unlink(old->socket.c_str());
    }
    ::unlinkat(folder.get(), made.c_str(), 0);
    const Descriptor out(::openat(folder.get(), made.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const std::string text = text_of(file);
    if (!out || ::write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::renameat(folder.get(), made.c_str(), folder.get(), name.c_str()) != 0)
        fail_folder("write the file of the port '" + file.name + "'");
}

void remove_port(const PortFile& file) {
    if (file.process != ::getpid()) return;  // a child that was forked
    ::unlink(file.socket.c_str());
    try {
        const Descriptor folder = open_folder(folders().front());
        if (!folder || ::flock(folder.get(), LOCK_EX) != 0) return;
        const std::string name = file_name(file.name);
        const auto now = read_port(folder, name);
        if (now && now->socket == file.socket) ::unlinkat(folder.get(), name.c_str(), 0);
    } catch (const Error&) {
        return;  // it is stale then, and whoever finds it sees that
    }
}

std::vector<PortFile> live_ports() {
    std::vector<PortFile> found;
    for (const std::string& path : folders()) {
        const Descriptor folder = open_folder(path);
        if (!folder) continue;
        const Entries entries = entries_of(folder);
        if (!entries) continue;
        while (const dirent* const entry = ::readdir(entries.get())) {
            if (!std::string_view(entry->d_name).ends_with(ending)) continue;
            auto port = read_port(folder, entry->d_name);
            if (port && lives(*port)) found.push_back(std::move(*port));
        }
    }
    std::sort(found.begin(), found.end(),
              [](const PortFile& a, const PortFile& b) { return a.name < b.name; });
    return found;
}

std::optional<PortFile> find_port(const std::string& name) {
    for (const std::string& path : folders()) {
        const Descriptor folder = open_folder(path);
        if (!folder) continue;
        auto port = read_port(folder, file_name(name));
        if (port && lives(*port)) return port;
    }
    return std::nullopt;
}

}  // namespace hocket::net

// SPDX-License-Identifier: BSD-3-Clause
#include "shm/mapping.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/fd_passing.hpp"
#include "shm/segment.hpp"

namespace hocket::shm {
namespace {

// A mapping keeps its owner's memory alive. So hocket keeps few unused ones of each owner, with no
// more bytes than the owner keeps of freed memory. The bound is per owner, because a transfer maps
// arrays of all processes of the node. Beyond a bound on all mappings together, each transfer would
// map every array anew. (Measured on 16 processes: 1700 page faults a call, 2.4 times as long.)
constexpr std::size_t keep_at_most = 64;

struct CachedMapping {
    std::int64_t inode;
    std::shared_ptr<std::byte> data;
    std::size_t bytes;
    bool visible;    // its owner's id names a process here, whose end shows; not one of a container
    double used_at;  // if the owner is not visible
};
using Mappings = std::list<CachedMapping>;  // of one owner; the latest used comes first

// Seconds without a use, after which an owner whose end does not show may have ended.
constexpr double keep_unused = 60;

std::mutex mutex_of_mappings;
std::unordered_map<std::int64_t, Mappings>& mappings() {
    static auto* const made = new std::unordered_map<std::int64_t, Mappings>;  // by process
    return *made;
}
int spare_file = -1;

// A mapping needs a descriptor for a moment only. One is reserved in case there is no other.
int open_in_need(const std::string& path) {
    int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0 && errno == EMFILE && spare_file >= 0) {
        close(spare_file);
        file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        spare_file = -1;
    }
    return file;
}
void keep_spare() {
    if (spare_file < 0) spare_file = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

std::shared_ptr<std::byte> within(const CachedMapping& mapping, std::int64_t offset) {
    if (offset < 0 || static_cast<std::size_t>(offset) > mapping.bytes) return nullptr;
    return {mapping.data, mapping.data.get() + offset};
}

bool has_ended(std::int64_t process) {
    return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

bool may_have_ended(std::int64_t process, const Mappings& all) {
    if (all.empty() || all.front().visible) return has_ended(process);
    return platform::seconds() - all.front().used_at > keep_unused;
}

std::size_t bytes_of(const Mappings& all) {
    std::size_t bytes = 0;
    for (const CachedMapping& each : all) bytes += each.bytes;
    return bytes;
}

// The mappings of an owner. A new one is a chance to free the memory of processes that have ended.
Mappings& mappings_of(std::int64_t owner) {
    const auto found = mappings().find(owner);
    if (found != mappings().end()) return found->second;
    std::erase_if(mappings(),
                  [](const auto& each) { return may_have_ended(each.first, each.second); });
    return mappings()[owner];
}

// The device of all segments: the system has its memfds, and no file with a name, in one file
// system. Read once, by a segment of this process; nothing while the system gives none.
std::optional<dev_t> device_of_segments() {
    static std::optional<dev_t> device;
    if (device) return device;
    const int file = memfd_create("hocket", MFD_CLOEXEC);
    if (file < 0) return std::nullopt;
    struct stat made {};
    if (fstat(file, &made) == 0) device = made.st_dev;
    close(file);
    return device;
}

// Its bytes, if that descriptor is the segment's; closes another one. In a container, the owner's
// id may be that of another process, whose file may have that inode's number on another device.
std::optional<std::size_t> bytes_of(int& file, std::int64_t inode, std::optional<dev_t> device) {
    if (file < 0) return std::nullopt;
    struct stat found {};
    if (fstat(file, &found) == 0 && static_cast<std::int64_t>(found.st_ino) == inode &&
        found.st_dev == device)
        return static_cast<std::size_t>(found.st_size);
    close(std::exchange(file, -1));
    return std::nullopt;
}

std::shared_ptr<std::byte> find_or_make(const SharedAddress& address) {
    const std::lock_guard lock(mutex_of_mappings);
    Mappings& all = mappings_of(address.process);
    for (auto it = all.begin(); it != all.end(); ++it) {
        if (it->inode != address.inode) continue;
        all.splice(all.begin(), all, it);
        if (!it->visible) it->used_at = platform::seconds();
        return within(*it, address.offset);
    }
    const auto device = device_of_segments();  // first, as it needs a descriptor, too
    const std::string path =
        "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    int file = forbidden(Mechanism::proc) ? -1 : open_in_need(path);
    auto size = bytes_of(file, address.inode, device);
    if (!size && fd_server_runs()) {
        file = request_fd(address);
        size = bytes_of(file, address.inode, device);
    }
    std::byte* const data = size ? map_segment(file, *size) : nullptr;
    const int problem = errno;
    if (file >= 0) close(file);
    keep_spare();
    errno = problem;
    if (data == nullptr) return nullptr;
    const std::size_t bytes = *size;
    const bool visible = !has_ended(address.process);  // it lives: it has given the segment
    all.push_front({address.inode,
                    {data, [bytes](std::byte* at) { unmap_segment(at, bytes); }},
                    bytes,
                    visible,
                    visible ? 0 : platform::seconds()});
    const auto most = static_cast<std::size_t>(memory_usage().keep_at_most);
    while (all.size() > 1 && (all.size() > keep_at_most || bytes_of(all) > most)) all.pop_back();
    return within(all.front(), address.offset);
}

}  // namespace

std::shared_ptr<std::byte> map(const SharedAddress& address) {
    return address && address.file >= 0 ? find_or_make(address) : nullptr;
}

namespace {

const std::array<std::string, 4>& mechanism_names() {
    static const std::array<std::string, 4> words{"memfd", "proc", "process_vm",
                                                  "socket"};  // in the order of Mechanism
    return words;
}

const std::set<std::string>& forbidden_words() {
    static const std::set<std::string> all = [] {
        std::istringstream text(environment::value_of("HOCKET_FORBID").value_or(""));
        std::set<std::string> read;
        for (std::string word; std::getline(text, word, ',');) read.insert(word);
        return read;
    }();
    return all;
}

// An error in the first collective call, on all processes, not in `allocate` on one.
const environment::ValidatedSetting validated_mechanisms([] {
    const auto& known = mechanism_names();
    for (const auto& word : forbidden_words())
        if (std::find(known.begin(), known.end(), word) == known.end())
            throw Error("HOCKET_FORBID holds '" + word +
                        "'; what can be forbidden is memfd, proc, process_vm and socket, as "
                        "memfd,proc");
});

}  // namespace

bool forbidden(Mechanism mechanism) {
    return forbidden_words().contains(mechanism_names()[static_cast<std::size_t>(mechanism)]);
}

std::vector<std::size_t> mapped() {
    const std::lock_guard lock(mutex_of_mappings);
    std::vector<std::size_t> found;
    for (const auto& [process, all] : mappings())
        for (const CachedMapping& each : all) found.push_back(each.bytes);
    return found;
}

}  // namespace hocket::shm

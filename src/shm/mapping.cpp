// SPDX-License-Identifier: BSD-3-Clause
#include "shm/mapping.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <mutex>
#include <set>
#include <sstream>
#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/fd_passing.hpp"
#include "shm/segment.hpp"

namespace hocket::shm {
namespace {

// A mapping keeps its owner's memory alive. So hocket keeps few unused ones, with no more bytes
// than the owner keeps of freed memory.
constexpr std::size_t keep_at_most = 64;

struct CachedMapping {
    std::int64_t process, inode;
    std::shared_ptr<std::byte> data;
    std::size_t bytes;
};

class Mappings {
  public:
    std::shared_ptr<std::byte> find_or_make(const SharedAddress& address) {
        const std::lock_guard lock(mutex_);
        for (auto it = mappings_.begin(); it != mappings_.end(); ++it) {
            if (it->process != address.process || it->inode != address.inode) continue;
            mappings_.splice(mappings_.begin(), mappings_, it);  // the latest used comes first
            return within(*it, address.offset);
        }
        const std::string path =
            "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
        int file = forbidden(Mechanism::proc) ? -1 : open_in_need(path);
        if (file < 0 && fd_server_runs()) file = request_fd(address);
        if (file < 0) return nullptr;
        struct stat found {};
        std::byte* data = nullptr;
        const bool same =
            fstat(file, &found) == 0 && static_cast<std::int64_t>(found.st_ino) == address.inode;
        const auto bytes = static_cast<std::size_t>(found.st_size);
        if (same) data = map_segment(file, bytes);
        const int problem = errno;
        close(file);
        keep_spare();
        errno = problem;
        if (data == nullptr) return nullptr;
        mappings_.push_front({address.process,
                              address.inode,
                              {data, [bytes](std::byte* at) { unmap_segment(at, bytes); }},
                              bytes});
        bytes_ += bytes;
        const auto most = static_cast<std::size_t>(memory_usage().keep_at_most);
        while (mappings_.size() > 1 && (mappings_.size() > keep_at_most || bytes_ > most)) {
            bytes_ -= mappings_.back().bytes;
            mappings_.pop_back();
        }
        return within(mappings_.front(), address.offset);
    }

    std::vector<std::size_t> sizes() {
        const std::lock_guard lock(mutex_);
        std::vector<std::size_t> found;
        for (const CachedMapping& each : mappings_) found.push_back(each.bytes);
        return found;
    }

  private:
    // A mapping needs a descriptor for a moment only. One is reserved in case there is no other.
    int open_in_need(const std::string& path) {
        int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0 && errno == EMFILE && spare_ >= 0) {
            close(spare_);
            file = open(path.c_str(), O_RDWR | O_CLOEXEC);
            spare_ = -1;
        }
        return file;
    }
    void keep_spare() {
        if (spare_ < 0) spare_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }

    static std::shared_ptr<std::byte> within(const CachedMapping& mapping, std::int64_t offset) {
        if (offset < 0 || static_cast<std::size_t>(offset) > mapping.bytes) return nullptr;
        return {mapping.data, mapping.data.get() + offset};
    }
    int spare_ = -1;
    std::mutex mutex_;
    std::list<CachedMapping> mappings_;
    std::size_t bytes_ = 0;
};

Mappings& mappings() {
    static Mappings* const made = new Mappings;
    return *made;
}

}  // namespace

std::shared_ptr<std::byte> map(const SharedAddress& address) {
    return address && address.file >= 0 ? mappings().find_or_make(address) : nullptr;
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
    return mappings().sizes();
}

}  // namespace hocket::shm

// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/memory.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "hocket/error.hpp"
#include "shm/mapping.hpp"
#include "shm/segment.hpp"

namespace hocket {
namespace {

// Blocks up to this size share segments, because file descriptors are few; larger blocks have their
// own.
constexpr std::size_t largest_shared_block = std::size_t{1} << 18;
constexpr std::size_t shared_segment = std::size_t{1} << 22;
constexpr std::size_t smallest_block = 64;

// Powers of two, with three steps between them: at most a fifth of a block is waste.
std::size_t size_class(std::size_t bytes) {
    const std::size_t floor = std::max(std::bit_floor(bytes), smallest_block);
    if (bytes <= floor) return floor;
    const std::size_t step = std::max(floor / 4, smallest_block);
    return floor + (bytes - floor + step - 1) / step * step;
}

// The upper limit of all requests. The system grants larger ones, page by page as programs touch
// them, until it kills some process.
std::size_t memory_of_machine() {
    static const std::size_t bytes = [] {
        struct sysinfo found {};
        // Simulated processes do not touch the memory of their arrays.
        if (platform::simulated || sysinfo(&found) != 0)
            return std::numeric_limits<std::size_t>::max();
        return (found.totalram + found.totalswap) * found.mem_unit;
    }();
    return bytes;
}

// A number in a file of the system; nothing for another text, as `max`.
std::optional<std::size_t> number_in(const char* path) {
    std::ifstream file(path);
    std::size_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

// The bytes that programs can take, with those of files that are in memory, within the limit of a
// container; 0 if unknown.
std::size_t free_memory() {
    std::ifstream lines("/proc/meminfo");
    std::string word;
    std::size_t kibibytes = 0;
    while (lines >> word)
        if (word == "MemAvailable:" && lines >> kibibytes) break;
    std::size_t bytes = kibibytes << 10;
    constexpr const char* limits[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
    for (const auto& [most, now] : limits)
        if (const auto limit = number_in(most))
            bytes = std::min(bytes, *limit - std::min(*limit, number_in(now).value_or(0)));
    return bytes;
}

// An error in the first collective call, on all processes, not in `allocate` on one.
std::optional<std::int64_t> asked_to_keep() {
    return environment::bytes("HOCKET_POOL_BYTES");
}
const environment::ValidatedSetting checked_pool([] { static_cast<void>(asked_to_keep()); });

std::size_t most_to_keep() {
    try {
        if (const auto asked = asked_to_keep()) return static_cast<std::size_t>(*asked);
    } catch (const Error&) {
        return 0;
    }
    // With one process a core, all of them together keep a quarter of the machine's memory.
    const auto memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    return static_cast<std::size_t>(memory / 4 / platform::cores());
}

class MemoryPool {
  public:
    MemoryPool() { shm::hold_in_forks(mutex_); }

    // `shared`: only memory that others can map. Returns the block, and whether it is a new segment
    // of its own that others can map.
    std::pair<std::byte*, bool> take(std::size_t bytes, bool shared) {
        const std::lock_guard lock(mutex_);
        in_use_ += bytes;
        auto& free = free_[bytes];
        const auto found = std::find_if(free.rbegin(), free.rend(), [&](const std::byte* block) {
            return !shared || segment_of(block)->file >= 0;
        });
        if (found != free.rend()) {
            std::byte* block = *found;
            free.erase(std::next(found).base());
            kept_ -= bytes;
            use(block, bytes, true);
            return {block, false};
        }
        try {
            if (bytes > largest_shared_block) {
                std::byte* const block = make_segment(bytes, shared);
                return {block, shareable_};
            }
            if (shared && left_ > 0 && segment_of(next_)->file < 0) left_ = 0;
            return {cut(bytes, shared), false};
        } catch (...) {
            in_use_ -= bytes;
            throw;
        }
    }

    void put_back(std::byte* block, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        in_use_ -= bytes;
        if (bytes > largest_shared_block && segment_of(block)->error != 0) {
            release(block);  // the next segment may be shared again
            return;
        }
        free_[bytes].push_back(block);
        kept_ += bytes;
        use(block, bytes, false);
        for (auto it = free_.rbegin(); it != free_.rend() && kept_ > keep_at_most(); ++it) {
            if (it->first <= largest_shared_block) break;  // its segment contains other blocks
            while (!it->second.empty() && kept_ > keep_at_most()) {
                release(it->second.back());
                it->second.pop_back();
                kept_ -= it->first;
            }
        }
    }

    MemoryUsage usage() {
        const std::lock_guard lock(mutex_);
        return {static_cast<std::int64_t>(in_use_), static_cast<std::int64_t>(kept_),
                static_cast<std::int64_t>(keep_at_most()), shareable_};
    }

    shm::SharedAddress shared_address_of(const void* address) {
        const std::lock_guard lock(mutex_);
        const auto* wanted = static_cast<const std::byte*>(address);
        const shm::Segment* segment = segment_of(wanted);
        if (segment == nullptr || segment->file < 0) return {};
        return {platform::process_id(), segment->file, segment->inode, wanted - segment->data};
    }

  private:
    const shm::Segment* segment_of(const std::byte* address) {
        const auto it = segments_.upper_bound(const_cast<std::byte*>(address));
        if (it == segments_.begin()) return nullptr;
        const shm::Segment& segment = std::prev(it)->second;
        return address < segment.data + segment.bytes ? &segment : nullptr;
    }

    // Read at first use: a process that only maps others' memory needs no limit.
    std::size_t keep_at_most() {
        if (!keep_at_most_) keep_at_most_ = most_to_keep();
        return *keep_at_most_;
    }

    std::byte* cut(std::size_t bytes, bool shared) {
        if (left_ < bytes) {
            next_ = make_segment(shared_segment, shared);
            left_ = shared_segment;
        }
        std::byte* block = next_;
        next_ += bytes;
        left_ -= bytes;
        return block;
    }

    std::byte* make_segment(std::size_t bytes, bool must_share) {
        const shm::Segment segment = shm::make_segment(bytes, "hocket");
        if (segment.data == nullptr)
            throw MemoryError("there is no memory for " + std::to_string(bytes) +
                              " bytes more; use smaller arrays, or more processes on more nodes");
        if (must_share && segment.file < 0) {
            shm::free_segment(segment);
            throw MemoryError(
                "there are no " + std::to_string(bytes) +
                " bytes of memory that other processes of this node can map (" +
                std::strerror(segment.error) +
                "); allow this process more open files (ulimit -n): each array of more "
                "than 256 KiB takes one");
        }
        shareable_ = segment.file >= 0;
        if (bytes >= shm::huge_page) madvise(segment.data, segment.bytes, MADV_HUGEPAGE);
        segments_[segment.data] = segment;
        return segment.data;
    }

    // For a block with its own segment.
    void use(std::byte* block, std::size_t bytes, bool used) {
        if (bytes > largest_shared_block) shm::use_segment(segments_.at(block), used);
    }

    void release(std::byte* data) {
        const auto it = segments_.find(data);
        shm::free_segment(it->second);
        segments_.erase(it);
    }

    std::mutex mutex_;
    std::map<std::size_t, std::vector<std::byte*>> free_;  // by size class
    std::map<std::byte*, shm::Segment> segments_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0, in_use_ = 0, kept_ = 0;
    std::optional<std::size_t> keep_at_most_;
    // Whether the latest segment is shared. Simulated processes have one address space, and no
    // segments.
    bool shareable_ = !platform::simulated;
};

MemoryPool& pool() {
    static MemoryPool* const made = new MemoryPool;  // outlives every array
    return *made;
}

}  // namespace

namespace {

std::shared_ptr<std::byte> taken(std::int64_t bytes, std::int64_t room, bool shared) {
    room = std::max(bytes, room);
    if (bytes < 0)
        throw Error("an array of " + std::to_string(bytes) + " bytes cannot be; give 0 or more");
    const bool beyond = room > std::int64_t{1} << 60;
    if (beyond || static_cast<std::size_t>(bytes) > memory_of_machine())
        throw MemoryError("there is no memory for " + std::to_string(beyond ? room : bytes) +
                          " bytes: this machine has " + std::to_string(memory_of_machine()) +
                          "; use smaller arrays, or more processes on more nodes");
    const std::size_t size = size_class(static_cast<std::size_t>(std::max<std::int64_t>(room, 1)));
    const auto [block, is_new] = pool().take(size, shared);
    std::shared_ptr<std::byte> memory(block, [size](std::byte* p) { pool().put_back(p, size); });
    // Of larger arrays a program may use a small part, which the system gives page by page. With
    // one process a core, all of them together take an eighth of the free memory at once.
    const auto used = static_cast<std::size_t>(bytes);
    if (is_new && used >= shm::huge_page &&
        used <= free_memory() / 8 / static_cast<std::size_t>(platform::cores()))
        shm::take_huge_pages(block, used);
    return memory;
}

}  // namespace

std::shared_ptr<std::byte> allocate(std::int64_t bytes, std::int64_t room) {
    return taken(bytes, room, false);
}

namespace shm {
std::shared_ptr<std::byte> allocate_shared(std::int64_t bytes) {
    return taken(bytes, 0, true);
}
SharedAddress shared_address_of(const void* address) {
    return pool().shared_address_of(address);
}
}  // namespace shm

MemoryUsage memory_usage() {
    return pool().usage();
}

}  // namespace hocket

// SPDX-License-Identifier: BSD-3-Clause
#include "shm/status_page.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <new>
#include <string>

#include "hocket/error.hpp"
#include "shm/segment.hpp"

namespace hocket::shm {
namespace {

constexpr const char* name = "hocket.presence";

struct Page {
    std::atomic<std::uint64_t> left{0};
    // 0: free. A process with more waits than these publishes only the first.
    std::array<std::atomic<std::uint64_t>, 63> waits_for{};
};

// Stays to the end of the process, because others may read it at any time.
const Segment& own_segment() {
    static const Segment made = [] {
        const Segment segment = make_segment(sizeof(Page), name);
        if (segment.data == nullptr)
            throw Error(
                "there is no memory for a page that other processes can read; allow this "
                "process more memory, or more maps");
        new (segment.data) Page;
        return segment;
    }();
    return made;
}

Page& page_in(std::byte* memory) {
    return *std::launder(reinterpret_cast<Page*>(memory));
}

void replace_entry(std::uint64_t before, std::uint64_t after) {
    for (auto& each : page_in(own_segment().data).waits_for) {
        if (each.load(std::memory_order_relaxed) != before) continue;
        each.store(after, std::memory_order_release);
        return;
    }
}

}  // namespace

SharedAddress own_status_page() {
    const Segment& own = own_segment();
    return own.file < 0 ? SharedAddress{} : SharedAddress{getpid(), own.file, own.inode, 0};
}

void publish_departure() {
    page_in(own_segment().data).left.store(1, std::memory_order_release);
}

void publish_wait(std::uint64_t number) {
    replace_entry(0, std::max<std::uint64_t>(number, 1));
}

void end_wait(std::uint64_t number) {
    replace_entry(std::max<std::uint64_t>(number, 1), 0);
}

std::shared_ptr<std::byte> status_page_of(std::int64_t process) {
    if (forbidden(Mechanism::proc)) return nullptr;
    const std::string wanted = std::string("/memfd:") + name + " (deleted)";
    const std::filesystem::path files = "/proc/" + std::to_string(process) + "/fd";
    std::error_code problem;
    std::filesystem::directory_iterator each(files, problem);
    for (; !problem && each != std::filesystem::directory_iterator(); each.increment(problem)) {
        std::error_code hidden;
        if (std::filesystem::read_symlink(each->path(), hidden) != wanted) continue;
        const std::string file = each->path().filename().string();
        SharedAddress address{process, 0, 0, 0};
        std::from_chars(file.data(), file.data() + file.size(), address.file);
        struct stat found {};
        if (stat(each->path().c_str(), &found) != 0) continue;
        address.inode = static_cast<std::int64_t>(found.st_ino);
        return map(address);
    }
    return nullptr;
}

bool has_left(std::byte* page) {
    return page_in(page).left.load(std::memory_order_acquire) != 0;
}

bool waits(std::byte* page, std::uint64_t number) {
    const auto& begun = page_in(page).waits_for;
    return std::any_of(begun.begin(), begun.end(), [&](const auto& each) {
        return each.load(std::memory_order_acquire) == std::max<std::uint64_t>(number, 1);
    });
}

}  // namespace hocket::shm

// SPDX-License-Identifier: BSD-3-Clause
#include "handles.hpp"

#include <unordered_map>

namespace hocket::c {
namespace {

struct Entry {
    std::shared_ptr<void> object;
    const char* noun;
};

struct Live {
    std::mutex mutex;
    std::unordered_map<std::uintptr_t, Entry> entries;
    std::uintptr_t last = 0;
};

// Never destroyed: a program may free its handles from static destructors.
Live& live() {
    static Live* const made = new Live;
    return *made;
}

// Requires the lock.
std::unordered_map<std::uintptr_t, Entry>::iterator entry_of(const void* handle, const char* noun) {
    const std::string what = std::string("'") + noun + "'";
    if (handle == nullptr)
        throw ArgumentError(what + " is NULL; give a handle that a function of hocket made");
    auto& entries = live().entries;
    const auto found = entries.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == entries.end())
        throw ArgumentError(what +
                            " is no live handle: it was freed, or never set; make a new one");
    if (std::string_view(found->second.noun) != noun)
        throw ArgumentError(what + " is a handle of another kind (" + found->second.noun +
                            "); give one of the kind '" + noun + "'");
    return found;
}

}  // namespace

const void* enter(std::shared_ptr<void> object, const char* noun) {
    const std::lock_guard lock(live().mutex);
    // Odd and small, so it is no object's address.
    const std::uintptr_t number = 2 * ++live().last + 1;
    live().entries.emplace(number, Entry{std::move(object), noun});
    return reinterpret_cast<const void*>(number);
}

std::shared_ptr<void> find(const void* handle, const char* noun) {
    const std::lock_guard lock(live().mutex);
    return entry_of(handle, noun)->second.object;
}

void leave(const void* handle, const char* noun) {
    std::shared_ptr<void> last;  // destroyed after the lock is released: its destructor may take
                                 // long, or use MPI
    const std::lock_guard lock(live().mutex);
    const auto entry = entry_of(handle, noun);
    last = std::move(entry->second.object);
    live().entries.erase(entry);
}

}  // namespace hocket::c

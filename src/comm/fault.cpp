// SPDX-License-Identifier: BSD-3-Clause
// Errors that travel between processes, by the names of their classes.
#include <algorithm>
#include <array>
#include <new>

#include "comm/agree.hpp"

namespace hocket::comm {
namespace {

struct Class {
    const char* name;
    bool (*is_of)(const std::exception&);
    void (*raise)(const std::string& message);
};

template <class E>
constexpr Class class_of(const char* name) {
    return {name,
            [](const std::exception& error) { return dynamic_cast<const E*>(&error) != nullptr; },
            [](const std::string& message) { throw E(message); }};
}

// Derived classes come before their bases.
constexpr std::array classes{
    class_of<LayoutError>("LayoutError"),     class_of<GapError>(GapError::kind),
    class_of<MismatchError>("MismatchError"), class_of<DeadlineError>("DeadlineError"),
    class_of<JobLostError>("JobLostError"),   class_of<PeerLostError>("PeerLostError"),
    class_of<EndOfStream>("EndOfStream"),     class_of<ArgumentError>("ArgumentError"),
    class_of<MemoryError>("MemoryError"),     class_of<Error>("Error"),
};

}  // namespace

Fault Fault::current() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {"MemoryError", "there is no more memory"};
    } catch (const std::exception& error) {
        const auto found = std::find_if(classes.begin(), classes.end() - 1,
                                        [&](const Class& one) { return one.is_of(error); });
        return {found->name, error.what()};
    }
}

void Fault::raise() const {
    for (const Class& one : classes)
        if (kind == one.name) one.raise(message);
    throw Error(message);
}

void Fault::pack(Packer& out) const {
    out.text(kind).text(message);
}

Fault Fault::unpacked(Unpacker& in) {
    return {in.text(), in.text()};
}

}  // namespace hocket::comm

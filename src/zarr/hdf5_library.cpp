// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/hdf5_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "hocket/error.hpp"

namespace hocket::zarr::hdf5 {
namespace {

// H5E_error2_t of every version since 1.8.
struct ErrorRecord {
    Id of_class, major, minor;
    unsigned line;
    const char *function, *file, *description;
};

std::string& offered() {
    static auto* const path = new std::string;
    return *path;
}

// Its own symbols come first, also where the program has linked another HDF5. The sanitizers allow
// no such order.
int mode() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return RTLD_NOW | RTLD_LOCAL;
#else
    return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif
}

std::vector<std::string> candidates() {
    const char* const wanted = std::getenv("HOCKET_HDF5");
    if (wanted != nullptr && *wanted != '\0') return {wanted};
    std::vector<std::string> out;
    // Debian's serial library, then other systems' names: HDF5 2.0, 1.14, 1.12 and 1.10.
    for (const char* const stem : {"libhdf5_serial.so", "libhdf5.so"})
        for (const char* const version : {"", ".320", ".310", ".200", ".103"})
            out.push_back(std::string(stem) + version);
    if (!offered().empty()) out.push_back(offered());
    return out;
}

// HDF5 closes all files at the end of the program. One that it could not close before, because the
// disk is full, would end the program by a signal.
std::atomic<bool> left_open{false};
int (*close_library)() = nullptr;

void close_at_exit() {
    if (!left_open) close_library();
}

void* load() {
    std::string why;
    for (const std::string& path : candidates()) {
        void* const handle = ::dlopen(path.c_str(), mode());
        if (handle == nullptr) {
            if (const char* const text = ::dlerror()) why = text;
            continue;
        }
        const auto open = reinterpret_cast<int (*)()>(::dlsym(handle, "H5open"));
        const auto create = ::dlsym(handle, "H5Pcreate");
        const auto close = reinterpret_cast<int (*)()>(::dlsym(handle, "H5close"));
        const auto leave = reinterpret_cast<int (*)()>(::dlsym(handle, "H5dont_atexit"));
        // Fails if another user of this library, as h5py, came first.
        const bool first = close != nullptr && leave != nullptr && leave() >= 0;
        if (open == nullptr || create == nullptr || open() < 0) {
            why = path + " is no library of HDF5";
            ::dlclose(handle);
            continue;
        }
        close_library = close;
        if (first) static_cast<void>(std::atexit(close_at_exit));
        return handle;
    }
    throw Error("hocket finds no HDF5 1.10 or later, which files in .h5 need (" + why +
                "); install Debian's libhdf5-103-1 or the Python package h5py, or name the "
                "library in HOCKET_HDF5");
}

void* library() {
    static void* loaded = nullptr;
    thread_local bool quiet = false;
    if (loaded == nullptr) loaded = load();
    if (!quiet) {
        // hocket reports errors itself. A thread-safe HDF5 has this setting for each thread.
        quiet = true;
        using Set = int (*)(Id, void*, void*);
        if (void* const set = ::dlsym(loaded, "H5Eset_auto2"))
            reinterpret_cast<Set>(set)(none, nullptr, nullptr);
    }
    return loaded;
}

int keep_deepest(unsigned number, const void* record, void* text) {
    const char* const description = static_cast<const ErrorRecord*>(record)->description;
    if (number == 0 && description != nullptr) *static_cast<std::string*>(text) = description;
    return 0;
}

}  // namespace

std::unique_lock<std::recursive_mutex> locked() {
    static auto* const mutex = new std::recursive_mutex;  // threads may outlive statics
    return std::unique_lock(*mutex);
}

void offer(const std::string& path) {
    const auto lock = locked();
    offered() = path;
}

void* find(const char* name) {
    return ::dlsym(library(), name);
}

void* symbol(const char* name) {
    void* const found = find(name);
    if (found == nullptr)
        throw Error(std::string("the library of HDF5 that hocket found has no function ") + name +
                    "; install version 1.10.5 or later, or name it in HOCKET_HDF5");
    return found;
}

Id variable(const char* name) {
    return *static_cast<const Id*>(symbol(name));
}

void fail_of(const char* function) {
    std::string text;
    using Walker = int (*)(unsigned, const void*, void*);
    using Walk = int (*)(Id, int, Walker, void*);
    if (void* const walk = find("H5Ewalk2"))
        reinterpret_cast<Walk>(walk)(none, 0, keep_deepest, &text);
    throw Error(std::string("HDF5 reports in ") + function + ": " + text);
}

Held::~Held() {
    if (id_ < 0) return;
    // The destructor throws nothing; writers flush before, where errors are reported.
    if (reinterpret_cast<int (*)(Id)>(symbol("H5Idec_ref"))(id_) < 0) left_open = true;
}

}  // namespace hocket::zarr::hdf5

// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/port.hpp"

namespace hocket::trace {
namespace {

// One file a process: HOCKET_TRACE.<pid>.json. Perfetto opens several together.
class File {
  public:
    File() {
        const char* base = std::getenv("HOCKET_TRACE");
        if (base == nullptr || *base == '\0') return;
        const std::string path = std::string(base) + "." + std::to_string(getpid()) + ".json";
        file_ = std::fopen(path.c_str(), "w");
        if (file_ == nullptr) {
            std::fprintf(stderr, "hocket: cannot write the trace %s; nothing is traced\n",
                         path.c_str());
            return;
        }
        std::fputs("[\n", file_);
    }
    ~File() {
        if (file_ == nullptr) return;
        std::fputs("{}]\n", file_);
        std::fclose(file_);
    }
    bool open() const { return file_ != nullptr; }
    void write(const char* name, double begin, double end) {
        const std::lock_guard lock(mutex_);
        std::fprintf(
            file_,
            "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f},\n",
            name, static_cast<int>(getpid()), static_cast<int>(gettid()), begin * 1e6,
            (end - begin) * 1e6);
    }

  private:
    std::FILE* file_ = nullptr;
    std::mutex mutex_;
};

File& file() {
    static File opened;
    return opened;
}

}  // namespace

bool enabled() {
    static const bool on = file().open();
    return on;
}

void record(const char* name, double begin, double end) {
    if (enabled()) file().write(name, begin, end);
}

Span::Span(const char* name) : name_(name), begin_(enabled() ? port::seconds() : 0) {}

Span::~Span() {
    if (enabled()) record(name_, begin_, port::seconds());
}

}  // namespace hocket::trace

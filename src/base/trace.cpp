// SPDX-License-Identifier: BSD-3-Clause
#include "base/trace.hpp"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/platform.hpp"

namespace hocket::trace {
namespace {

// Seconds: a killed process loses at most this much of its trace.
constexpr double between_flushes = 10e-3;

// Microseconds from the beginning of the year 1970 to that of this host's `platform::seconds`, by
// which `hocket run --trace` compares the clocks of several hosts.
std::int64_t clock_begin() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000 + now.tv_nsec / 1000 -
           static_cast<std::int64_t>(platform::seconds() * 1e6);
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            out += code;
        } else {
            out += c;
        }
    }
    return out + '"';
}

// One file a process: HOCKET_TRACE.<host>.<pid>.json, as hosts number their processes apart.
// `hocket run --trace` merges them; Perfetto opens several together.
class File {
  public:
    File() {
        const char* base = std::getenv("HOCKET_TRACE");
        if (base == nullptr || *base == '\0') return;
        const std::string host = platform::host_name();
        const std::string path =
            std::string(base) + "." + host + "." + std::to_string(getpid()) + ".json";
        file_ = std::fopen(path.c_str(), "w");
        if (file_ == nullptr) {
            std::fprintf(stderr, "hocket: cannot write the trace %s; nothing is traced\n",
                         path.c_str());
            return;
        }
        std::fputs("[\n", file_);
        write("\"ph\":\"M\",\"name\":\"hocket_clock\",\"args\":{\"host\":" + quoted(host) +
              ",\"begin\":" + std::to_string(clock_begin()) + "}");
    }
    ~File() {
        const std::lock_guard lock(mutex_);
        if (file_ == nullptr) return;
        std::fputs("{}]\n", file_);
        std::fclose(std::exchange(file_, nullptr));
    }
    bool open() const { return file_ != nullptr; }
    /// `members`: those of the event's object, without the process and the thread.
    void write(const std::string& members) {
        const std::lock_guard lock(mutex_);
        if (file_ == nullptr) return;  // the process is ending
        std::fprintf(file_, "{\"pid\":%d,\"tid\":%d,%s},\n", static_cast<int>(getpid()),
                     static_cast<int>(gettid()), members.c_str());
        flush_if_due();
    }
    void flush() {
        const std::lock_guard lock(mutex_);
        if (file_ != nullptr) flush_if_due();
    }

  private:
    void flush_if_due() {
        const double now = platform::seconds();
        if (now < next_flush_) return;
        std::fflush(file_);
        next_flush_ = now + between_flushes;
    }
    std::FILE* file_ = nullptr;
    double next_flush_ = 0;
    std::mutex mutex_;
};

File& file() {
    static File opened;
    return opened;
}

std::string microseconds(double seconds) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", seconds * 1e6);
    return text;
}

std::string arguments_text(const Arguments& arguments) {
    return arguments.json().empty() ? "" : ",\"args\":{" + arguments.json() + "}";
}

void write_name(const char* of, std::string_view name) {
    file().write(std::string("\"ph\":\"M\",\"name\":\"") + of +
                 "\",\"args\":{\"name\":" + quoted(name) + "}");
}

void write_arrow(const char* end, std::uint64_t id, double at) {
    if (!enabled()) return;
    char number[24];
    std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(id));
    file().write(std::string("\"ph\":") + end +
                 ",\"cat\":\"arrow\",\"name\":\"elements\",\"id\":\"" + number +
                 "\",\"ts\":" + microseconds(at));
}

}  // namespace

bool enabled() {
    static const bool on = file().open();
    return on;
}

Arguments& Arguments::add(std::string_view name, std::int64_t value) {
    json_ += (json_.empty() ? "" : ",") + quoted(name) + ":" + std::to_string(value);
    return *this;
}

Arguments& Arguments::add(std::string_view name, std::string_view value) {
    json_ += (json_.empty() ? "" : ",") + quoted(name) + ":" + quoted(value);
    return *this;
}

void name_process(std::string_view name, int place) {
    if (!enabled()) return;
    write_name("process_name", name);
    file().write("\"ph\":\"M\",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" +
                 std::to_string(place) + "}");
}

void name_thread(std::string_view name) {
    if (enabled()) write_name("thread_name", name);
}

void record(std::string_view name, double begin, double end, const Arguments& arguments) {
    if (!enabled()) return;
    file().write("\"ph\":\"X\",\"name\":" + quoted(name) + ",\"ts\":" + microseconds(begin) +
                 ",\"dur\":" + microseconds(end - begin) + arguments_text(arguments));
}

void arrow_out(std::uint64_t id, double at) {
    write_arrow("\"s\"", id, at);
}

void arrow_in(std::uint64_t id, double at) {
    write_arrow("\"f\",\"bp\":\"e\"", id, at);
}

void flush() {
    if (enabled()) file().flush();
}

Span::Span(std::string_view name) : Span(name, Arguments()) {}

Span::Span(std::string_view name, const Arguments& arguments) {
    if (!enabled()) return;
    name_ = name;
    arguments_ = arguments;
    begin_ = platform::seconds();
}

Span::~Span() {
    if (!name_.empty()) record(name_, begin_, platform::seconds(), arguments_);
}

Track::Track(std::string_view name, const Arguments& arguments) {
    static std::atomic<std::uint64_t> made{0};
    if (!enabled()) return;
    id_ = ++made;
    name_ = name;
    last_ = platform::seconds();
    // At once, so that it precedes its first step, which begins at the same time.
    write('b', name_, last_, arguments);
}

Track::Track(Track&& other) noexcept
    : id_(std::exchange(other.id_, 0)),
      name_(std::move(other.name_)),
      step_(std::move(other.step_)),
      step_begin_(other.step_begin_),
      last_(other.last_) {}

Track& Track::operator=(Track&& other) noexcept {
    if (this == &other) return *this;
    end();
    id_ = std::exchange(other.id_, 0);
    name_ = std::move(other.name_);
    step_ = std::move(other.step_);
    step_begin_ = other.step_begin_;
    last_ = other.last_;
    return *this;
}

void Track::step(std::string_view name) {
    if (id_ == 0) return;
    if (step_ != name) {
        end_step();
        step_ = name;
        step_begin_ = last_;
    }
    last_ = platform::seconds();
}

void Track::end_step() {
    if (step_.empty()) return;
    write('b', step_, step_begin_, {});
    write('e', step_, last_, {});
    step_.clear();
}

void Track::end() {
    if (id_ == 0) return;
    end_step();
    write('e', name_, platform::seconds(), {});
    id_ = 0;
}

void Track::write(char phase, std::string_view name, double at, const Arguments& arguments) const {
    file().write(std::string("\"ph\":\"") + phase +
                 "\",\"cat\":\"transfer\",\"id2\":{\"local\":\"" + std::to_string(id_) +
                 "\"},\"name\":" + quoted(name) + ",\"ts\":" + microseconds(at) +
                 arguments_text(arguments));
}

}  // namespace hocket::trace

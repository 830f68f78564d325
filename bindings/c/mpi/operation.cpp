// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/operation.hpp"

#include <atomic>
#include <unordered_map>

#include "handles.hpp"
#include "hocket/log.hpp"
#include "hocket/memory.hpp"
#include "hocket/mpi.hpp"

using namespace hocket::c;

namespace {

// While it lives, this thread counts indices from 0. A function of the caller runs within a wait of
// any language, and Fortran's calls set how their own messages count.
class CountedFromZero {
  public:
    CountedFromZero() = default;
    CountedFromZero(const CountedFromZero&) = delete;
    CountedFromZero& operator=(const CountedFromZero&) = delete;
    ~CountedFromZero() { hocket::Binding::set_first_index(before_); }

  private:
    const std::int64_t before_ = hocket::Binding::set_first_index(0);
};

// An operation of the caller.
class CallersOperation final : public hocket::Operation {
  public:
    CallersOperation(int (*step)(void*, bool*), std::string text, void* context)
        : step_(step), text_(std::move(text)), context_(context) {}

    bool poll() override {
        if (done_) return true;
        const int code = [&] {
            const CountedFromZero counting;
            return step_(context_, &done_);
        }();
        if (code != 0)
            throw hocket::Error(text_ + ": the operation's poll function returned " +
                                std::to_string(code));
        return done_;
    }
    std::string text() const override { return text_; }

  private:
    int (*step_)(void*, bool*);
    std::string text_;
    void* context_;
    bool done_ = false;
};

std::atomic<int (*)(void)> interrupt_check{nullptr};

void check_for_interrupt() {
    const auto check = interrupt_check.load();
    const CountedFromZero counting;
    const int code = check != nullptr ? check() : 0;
    if (code != 0)
        throw Interrupted("the interrupt check ended the wait with " + std::to_string(code) +
                          "; the operation itself goes on");
}

std::atomic<void (*)(int, const char*)> log_sink{nullptr};

void pass_to_sink(hocket::LogLevel level, const char* text) {
    const auto sink = log_sink.load();
    const CountedFromZero counting;
    if (sink != nullptr) sink(static_cast<int>(level), text);
}

// Memory that the caller knows by its address.
struct Given {
    std::mutex mutex;
    std::unordered_map<void*, std::shared_ptr<std::byte>> owners;
};
Given& given() {
    static Given* const made = new Given;
    return *made;
}

}  // namespace

int hocket_operation_make(int (*poll)(void* context, bool* done), const char* text, void* context,
                          hocket_operation** operation) {
    return guard(__func__, [&] {
        if (poll == nullptr) throw ArgumentError("'poll' is NULL; give a function");
        give(operation, std::make_shared<CallersOperation>(poll, text_of(text, "text"), context));
    });
}

int hocket_operation_from_request(MPI_Request* request, hocket_operation** operation) {
    return guard(__func__, [&] {
        MPI_Request& taken = required(request, "request");
        require(operation, "operation");
        give(operation, hocket::operation(taken));
        taken = MPI_REQUEST_NULL;
    });
}

int hocket_operation_watch_request(MPI_Request request, hocket_operation** operation) {
    return guard(__func__, [&] { give(operation, hocket::watch(request)); });
}

int hocket_operation_poll(hocket_operation* operation, bool* done) {
    return guard(__func__, [&] {
        const auto held = behind(operation);
        required(done, "done") = hocket::poll(*held->value);
    });
}

int hocket_operation_wait(hocket_operation* operation, double timeout) {
    return guard(__func__, [&] {
        const auto held = behind(operation);
        const auto deadline = deadline_of(timeout);
        if (!hocket::poll(*held->value)) hocket::wait(*held->value, deadline);
    });
}

int hocket_operation_wait_any(int64_t count, hocket_operation* const* operations, double timeout,
                              int64_t* index) {
    return guard(__func__, [&] {
        std::vector<std::shared_ptr<hocket::Operation>> all;
        for (const auto* each : list(count, operations, "operations"))
            all.push_back(behind(each)->value);
        std::int64_t& place = required(index, "index");
        place = static_cast<std::int64_t>(hocket::wait_any(all, deadline_of(timeout)));
    });
}

int hocket_operation_text(hocket_operation* operation, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(operation);
        required(text, "text") = held->keep(held->value->text());
    });
}

int hocket_operation_free(hocket_operation** operation) {
    return free_handle(__func__, operation);
}

int hocket_interrupt_check_set(int (*check)(void)) {
    return guard(__func__, [&] {
        interrupt_check = check;
        hocket::set_interrupt_check(check != nullptr ? check_for_interrupt : nullptr);
    });
}

int hocket_interpreter_lock_set(void* (*let_go)(void), void (*take_back)(void* held)) {
    return guard(__func__, [&] {
        if ((let_go == nullptr) != (take_back == nullptr))
            throw ArgumentError("one of 'let_go' and 'take_back' is NULL; give both, or neither");
        hocket::Binding::set_interpreter_lock(let_go, take_back);
    });
}

int hocket_log_set(void (*sink)(int level, const char* text), int from) {
    return guard(__func__, [&] {
        if (from != HOCKET_LOG_DEBUG && from != HOCKET_LOG_INFO)
            throw ArgumentError("'from' is " + std::to_string(from) +
                                "; give HOCKET_LOG_DEBUG or HOCKET_LOG_INFO");
        log_sink = sink;
        hocket::set_log(sink != nullptr ? pass_to_sink : nullptr, hocket::LogLevel{from});
    });
}

int hocket_pending_waits(const char** text) {
    return guard(__func__, [&] {
        static thread_local std::string last;
        const char*& place = required(text, "text");
        last = hocket::pending_waits();
        place = last.c_str();
    });
}

int hocket_mpi_library(const char** name) {
    return guard(__func__, [&] {
        static const std::string library = hocket::mpi_library();
        required(name, "name") = library.c_str();
    });
}

int hocket_memory_allocate(int64_t bytes, void** memory) {
    return guard(__func__, [&] {
        void*& place = required(memory, "memory");
        auto owner = hocket::allocate(bytes);
        void* const address = owner.get();
        const std::lock_guard lock(given().mutex);
        given().owners[address] = std::move(owner);
        place = address;
    });
}

int hocket_memory_free(void** memory) {
    return guard(__func__, [&] {
        void*& place = required(memory, "memory");
        const std::lock_guard lock(given().mutex);
        if (given().owners.erase(place) == 0)
            throw ArgumentError(
                "'memory' is not what hocket_memory_allocate gave, or was freed already");
        place = nullptr;
    });
}

int hocket_memory_usage_get(hocket_memory_usage* usage) {
    return guard(__func__, [&] {
        const auto now = hocket::memory_usage();
        required(usage, "usage") = {now.in_use, now.kept, now.keep_at_most, now.shareable};
    });
}

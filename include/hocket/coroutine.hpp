// SPDX-License-Identifier: BSD-3-Clause
// Coroutines: straight-line code that pauses where it would have to wait. A step of a flow may be
// one (flow.hpp):
//
//     flow.task([&]() -> hocket::Coroutine<> {
//         const double largest = compute(part);
//         const auto best = co_await team.start(team::Op::reduce_max, largest);
//         scale(part, best.value<double>());
//     }, {hocket::updates(part)});
//
// Nothing runs by itself: whoever resumes the outermost coroutine drives all that it awaits.
//
// g++ 12 copies an aggregate temporary of a co_await or co_return expression byte by byte, and
// destroys both: give such values a name first.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hocket/operation.hpp"

namespace hocket {

template <class T = void>
class Coroutine;

namespace coroutine {

/// So many bytes for a frame, of those that this thread gave back if it has any.
/// @throws std::bad_alloc
void* take_frame(std::size_t bytes);
/// Returns what `take_frame` gave for so many bytes, from any thread.
void give_frame(void* frame, std::size_t bytes) noexcept;

/// A paused coroutine waits for its condition.
class Condition {
  public:
    Condition() = default;
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    virtual ~Condition() = default;
    /// @throws what the `co_await` is to throw.
    virtual bool holds() = 0;
    /// As Operation::leave, for a coroutine that is not resumed any more.
    virtual bool leave() { return true; }
    /// Completes the clause "waiting for …".
    virtual std::string text() const { return {}; }
};

/// Common to a coroutine and those that it awaits: the one to resume, and its condition.
struct Chain {
    std::coroutine_handle<> innermost;
    Condition* blocked = nullptr;
    std::exception_ptr error;  // of that condition

    /// Whether the innermost one may go on.
    bool ready() {
        if (blocked == nullptr) return true;
        try {
            if (!blocked->holds()) return false;
        } catch (...) {
            error = std::current_exception();
        }
        blocked = nullptr;
        return true;
    }
};

/// Awaits a condition: `co_await until(condition)`. Throws what the condition throws.
class Until {
  public:
    explicit Until(Condition& condition) : condition_(&condition) {}
    bool await_ready() { return condition_->holds(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        pause(self, *self.promise().chain, *condition_);
    }
    void await_resume() {
        if (chain_ != nullptr && chain_->error)
            std::rethrow_exception(std::exchange(chain_->error, nullptr));
    }

  protected:
    void pause(std::coroutine_handle<> self, Chain& chain, Condition& condition) {
        chain_ = &chain;
        chain.innermost = self;
        chain.blocked = &condition;
    }

  private:
    Condition* condition_;
    Chain* chain_ = nullptr;
};

/// Operations that a paused step awaits together: all of them end, whatever fails.
class Awaited {
  public:
    std::vector<std::shared_ptr<Operation>> operations;

    /// Makes progress; whether all have ended.
    bool over() {
        std::erase_if(operations, [this](const auto& operation) {
            try {
                return operation->poll();
            } catch (...) {
                if (!error_) error_ = std::current_exception();
                return true;
            }
        });
        return operations.empty();
    }
    /// The first error, only once; nullptr: none.
    std::exception_ptr take_error() { return std::exchange(error_, nullptr); }
    bool leave() {
        std::erase_if(operations, [](const auto& operation) { return operation->leave(); });
        return operations.empty();
    }
    std::string text() const {
        return operations.empty() ? "its next part" : operations.front()->text();
    }

  private:
    std::exception_ptr error_;
};

/// The operations of anything that a step may start: an operation, a request, or a range of these.
template <class Started>
void add_operations(std::vector<std::shared_ptr<Operation>>& all, Started&& started) {
    if constexpr (std::convertible_to<Started&&, std::shared_ptr<Operation>>) {
        all.emplace_back(std::forward<Started>(started));
    } else if constexpr (requires { started.operation(); }) {
        all.push_back(started.operation());
    } else {
        for (auto& each : started) add_operations(all, each);
    }
}

/// Awaits operations, and throws their first error. The result is that of the awaited thing: the
/// status of a request between tasks, the result of a team; of others there is none.
template <class Started>
class Completion : private Condition, public Until {
  public:
    explicit Completion(Started&& started)
        : Until(static_cast<Condition&>(*this)), started_(std::forward<Started>(started)) {
        if constexpr (std::convertible_to<Started&&, std::shared_ptr<Operation>>)
            awaited_.operations.emplace_back(std::forward<Started>(started_));
        else
            add_operations(awaited_.operations, started_);
        std::erase(awaited_.operations, nullptr);
    }

    // The thread that resumes coroutines may not poll; the flow's agent does.
    bool await_ready() const { return awaited_.operations.empty(); }
    auto await_resume() {
        Until::await_resume();
        if constexpr (requires { started_.status(); }) {
            return started_.status();
        } else if constexpr (requires { started_.bits(); }) {
            return std::remove_cvref_t<Started>(started_);
        }
    }

  private:
    bool holds() override {
        if (!awaited_.over()) return false;
        if (const auto error = awaited_.take_error()) std::rethrow_exception(error);
        return true;
    }
    bool leave() override { return awaited_.leave(); }
    std::string text() const override { return awaited_.text(); }

    Started&& started_;
    Awaited awaited_;
};

template <class T>
concept Awaitable = requires(T& value) {
    value.await_ready();
};

struct PromiseBase {
    Chain* chain = nullptr;
    std::coroutine_handle<> continuation;
    std::exception_ptr error;

    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) { give_frame(frame, bytes); }

    std::suspend_always initial_suspend() noexcept { return {}; }

    struct Final {
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
            auto& promise = self.promise();
            return promise.continuation ? promise.continuation : std::noop_coroutine();
        }
        void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void unhandled_exception() { error = std::current_exception(); }

    template <Awaitable T>
    T&& await_transform(T&& value) {
        return static_cast<T&&>(value);
    }
    template <class Started>
    Completion<Started> await_transform(Started&& started) {
        return Completion<Started>(std::forward<Started>(started));
    }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;
    auto get_return_object() { return std::coroutine_handle<Promise>::from_promise(*this); }
    template <class U>
    void return_value(U&& result) {
        value.emplace(std::forward<U>(result));
    }
    T take() {
        if (error) std::rethrow_exception(error);
        return std::move(*value);
    }
};

template <>
struct Promise<void> : PromiseBase {
    auto get_return_object() { return std::coroutine_handle<Promise>::from_promise(*this); }
    void return_void() {}
    void take() {
        if (error) std::rethrow_exception(error);
    }
};

}  // namespace coroutine

/// A function with this result may `co_await`
/// - another Coroutine, which runs as a part of it, and gives its result;
/// - what a step may start: operations, requests, a TeamResult, or a vector of them. The step gives
///   its worker back meanwhile. An error of the operation is thrown here.
template <class T>
class [[nodiscard]] Coroutine {
  public:
    using promise_type = coroutine::Promise<T>;

    // Implicit: the compiler converts what get_return_object gives.
    Coroutine(std::coroutine_handle<promise_type> handle)  // NOLINT(google-explicit-constructor)
        : handle_(handle) {}
    Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Coroutine& operator=(Coroutine&&) = delete;
    ~Coroutine() {
        if (handle_) handle_.destroy();
    }

    // If it ends at once, it returns here and does not resume the other, so a loop needs no stack
    // for each round.
    bool await_ready() const noexcept { return false; }
    template <class Outer>
    bool await_suspend(std::coroutine_handle<Outer> outer) {
        handle_.promise().chain = outer.promise().chain;
        handle_.resume();
        if (handle_.done()) return false;
        handle_.promise().continuation = outer;
        return true;
    }
    T await_resume() { return take(); }

    /// For the one that drives it from outside: the first call begins it.
    void begin(coroutine::Chain& chain) {
        chain.innermost = handle_;
        handle_.promise().chain = &chain;
    }
    bool done() const { return handle_.done(); }
    /// The result; rethrows the exception. Only once it is done, and only once.
    T take() { return handle_.promise().take(); }

  private:
    std::coroutine_handle<promise_type> handle_;
};

}  // namespace hocket

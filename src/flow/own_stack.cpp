// SPDX-License-Identifier: BSD-3-Clause
// Steps on stacks of their own, which pause where they would wait.
#include <cxxabi.h>
#if defined(__SANITIZE_ADDRESS__) && __has_include(<sanitizer/common_interface_defs.h>)
#define HOCKET_SANITIZED_STACKS
#include <sanitizer/common_interface_defs.h>
#endif
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/at_end.hpp"
#include "base/numbering.hpp"
#include "comm/engine.hpp"
#include "comm/polled.hpp"
#include "flow/processors.hpp"
#include "flow/waits.hpp"
#include "hocket/binding.hpp"
#include "hocket/flow_body.hpp"

namespace hocket::flow {
namespace {

/// As large as that of a main thread. Only pages that a step touches take memory. A guard page
/// below it turns an overflow into a SIGSEGV.
class Stack {
  public:
    static constexpr std::size_t bytes = std::size_t{8} << 20U, guard = 4096;

    Stack() {
        base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (base_ == MAP_FAILED) throw std::bad_alloc();
        mprotect(base_, guard, PROT_NONE);
    }
    ~Stack() {
        if (base_ != nullptr) munmap(base_, bytes);
    }
    Stack(Stack&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
    Stack& operator=(Stack&& other) noexcept {
        std::swap(base_, other.base_);
        return *this;
    }
    void* base() const { return base_; }

  private:
    void* base_;
};

/// Stacks that no step uses now, for all threads.
class Stacks {
  public:
    Stack take() {
        const std::lock_guard lock(guard_);
        if (kept_.empty()) return Stack();
        Stack stack = std::move(kept_.back());
        kept_.pop_back();
        return stack;
    }
    void give(Stack&& stack) {
        const std::lock_guard lock(guard_);
        if (kept_.size() < 64) kept_.push_back(std::move(stack));
    }

  private:
    std::mutex guard_;
    std::vector<Stack> kept_;
};

// Never destroyed: threads of flows may outlive static objects.
Stacks& stacks() {
    static auto* const all = new Stacks;
    return *all;
}

/// The numbers of steps that have not ended, in the order of insertion.
class Order {
  public:
    std::uint64_t enter() {
        const std::lock_guard lock(guard_);
        left_.insert(left_.end(), next_);
        return next_++;
    }
    void leave(std::uint64_t number) {
        const std::lock_guard lock(guard_);
        left_.erase(number);
    }
    bool is_first(std::uint64_t number) {
        const std::lock_guard lock(guard_);
        return *left_.begin() == number;
    }

  private:
    std::mutex guard_;
    std::set<std::uint64_t> left_;
    std::uint64_t next_ = 0;
};

Order& order() {
    static auto* const all = new Order;
    return *all;
}

/// The exceptions that a thread handles are those of the stack on which it runs.
struct Handled {
    void* caught = nullptr;
    unsigned int uncaught = 0;

    void swap() {
        auto* const place = reinterpret_cast<char*>(abi::__cxa_get_globals());
        Handled before;
        std::memcpy(&before.caught, place, sizeof before.caught);
        std::memcpy(&before.uncaught, place + sizeof(void*), sizeof before.uncaught);
        std::memcpy(place, &caught, sizeof caught);
        std::memcpy(place + sizeof(void*), &uncaught, sizeof uncaught);
        *this = before;
    }
};

#ifdef HOCKET_SANITIZED_STACKS
/// Tells AddressSanitizer on which stack the thread runs.
class Watched {
  public:
    void before(const void* bottom, std::size_t bytes, bool comes_back = true) {
        __sanitizer_start_switch_fiber(comes_back ? &mine_ : nullptr, bottom, bytes);
    }
    void after(const void** bottom, std::size_t* bytes) {
        __sanitizer_finish_switch_fiber(mine_, bottom, bytes);
    }

  private:
    void* mine_ = nullptr;
};
#endif

class StepOnStack;
thread_local StepOnStack* running = nullptr;

class StepOnStack final : public Suspended {
  public:
    explicit StepOnStack(std::function<void()> function)
        : function_(std::move(function)), number_(order().enter()) {}
    ~StepOnStack() override { end(); }

    bool ready() override {
        if (awaited_ == nullptr) return true;
        try {
            if (!awaited_->poll()) return false;
        } catch (...) {
            error_ = std::current_exception();
        }
        awaited_ = nullptr;
        return true;
    }
    bool resume() override {
        if (!stack_) begin();
        StepOnStack* const before = std::exchange(running, this);
        swap_thread();
        switch_in();
        swap_thread();
        running = before;
        if (!over_) return false;
        end();
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
        return true;
    }
    bool has_stack() const override { return true; }
    std::string text() const override {
        return awaited_ == nullptr ? "its next part" : awaited_->text();
    }

    // In the step:
    void pause_for(Operation& operation) {
        awaited_ = &operation;
        switch_out();
        if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    }
    bool runs_itself() const { return running_step() == step_; }
    std::uint64_t number() const { return number_; }

  private:
    bool leave_awaited() override { return false; }  // never asked: it has a stack

    // A thread's state that belongs to the stack on which it runs.
    void swap_thread() {
        handled_.swap();
        const std::int64_t first = text::first_index();
        text::set_first_index(std::exchange(first_index_, first));
    }
    void begin() {
        stack_.emplace(stacks().take());
        step_ = running_step();
        getcontext(&inside_);
        inside_.uc_stack.ss_sp = stack_->base();
        inside_.uc_stack.ss_size = Stack::bytes;
        inside_.uc_link = nullptr;
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&inside_, reinterpret_cast<void (*)()>(&StepOnStack::run), 2,
                    static_cast<unsigned int>(address >> 32U),
                    static_cast<unsigned int>(address & 0xffffffffU));
    }
    static void run(unsigned int high, unsigned int low) {
        auto* const self = reinterpret_cast<StepOnStack*>((std::uintptr_t{high} << 32U) | low);
        self->arrived();
        try {
            take_processor();
            const base::AtEnd over(give_processor);
            self->function_();
        } catch (...) {
            self->error_ = std::current_exception();
        }
        self->over_ = true;
        self->switch_out();
    }
#ifdef HOCKET_SANITIZED_STACKS
    void switch_in() {
        from_.before(stack_->base(), Stack::bytes);
        swapcontext(&outside_, &inside_);
        from_.after(nullptr, nullptr);
    }
    void switch_out() {
        own_.before(outside_bottom_, outside_bytes_, !over_);
        swapcontext(&inside_, &outside_);
        arrived();
    }
    void arrived() {
        own_.after(&outside_bottom_, &outside_bytes_);
    }
    Watched from_, own_;
    const void* outside_bottom_ = nullptr;
    std::size_t outside_bytes_ = 0;
#else
    void switch_in() {
        swapcontext(&outside_, &inside_);
    }
    void switch_out() {
        swapcontext(&inside_, &outside_);
    }
    void arrived() {}
#endif
    void end() {
        order().leave(number_);
        function_ = nullptr;
        if (stack_) stacks().give(std::move(*stack_));
        stack_.reset();
    }

    std::function<void()> function_;
    const std::uint64_t number_;
    const void* step_ = nullptr;
    std::optional<Stack> stack_;
    ucontext_t inside_{}, outside_{};
    Handled handled_;
    std::int64_t first_index_ = 0;
    Operation* awaited_ = nullptr;
    std::exception_ptr error_;  // of what it awaited, then its own
    bool over_ = false;
};

}  // namespace

bool may_pause() {
    return running != nullptr && running->runs_itself();
}

void pause_for(Operation& operation) {
    running->pause_for(operation);
}

void await_earlier_blocking_tasks() {
    const std::uint64_t number = running->number();
    comm::FunctionOperation first([number] { return order().is_first(number); },
                                  [] { return "the end of earlier steps that block"; });
    if (!first.poll()) pause_for(first);
}

std::shared_ptr<Suspended> on_own_stack(std::function<void()> function) {
    [[maybe_unused]] static const bool pauses = [] {
        comm::set_pause([](Operation& operation) {
            if (!may_pause()) return false;
            pause_off_processor(operation);
            return true;
        });
        return true;
    }();
    return std::make_shared<StepOnStack>(std::move(function));
}

Unpaused::Unpaused() : before_(std::exchange(running, nullptr)) {}

Unpaused::~Unpaused() {
    running = static_cast<StepOnStack*>(before_);
}

}  // namespace hocket::flow

// SPDX-License-Identifier: BSD-3-Clause
// A small exhaustive model checker for flag protocols on C++ atomics.
//
// Memory is that of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency in
// C/C++11, PLDI 2017) in terms of views (Kang, Hur, Lahav, Vafeiadis, Dreyer: A promising semantics
// for relaxed-memory concurrency, POPL 2017). A location is the list of its stores. A process's
// view has, for each location, the oldest store that it may still see. An acquire load of a release
// store joins the storer's view to its own.
//
// A process is a function of the values that its loads see. So the checker stores a process as the
// list of these values, and runs it again from its start for each further step. It tries every
// choice of every load in every order, and searches no state twice. It omits two kinds of steps
// that add no behaviour:
// - Stores are made at once, without choice. Each location has one writer, so a store only adds a
//   possible value to the others' loads, which may also see the older stores.
// - A poll that sees the same values again, and fails, is no step.
//
// No load sees a store that is made after it, although a processor may let a relaxed load do so.
// That makes no difference unless a relaxed access is in a race (`Result::races`).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocket::shm::model {

struct Result {
    std::string violation;   ///< empty if there is none; else its text and the loads that led to it
    std::size_t states = 0;  ///< number of searched states
    std::size_t ends = 0;    ///< of these, states with every process at its end
    std::size_t races = 0;   ///< relaxed loads and stores of a location that nothing orders
};

/// Atomics made while a model lives are its locations. One model at a time.
class Model {
  public:
    Model() { current = this; }
    ~Model() { current = nullptr; }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    using Program = std::function<void()>;
    /// Tries all that these processes can do. They keep what they know in variables of their own,
    /// as they are run many times. `at_end` is called whenever all are at their end.
    Result check(const std::vector<Program>& programs, const std::function<void()>& at_end = {}) {
        programs_ = programs;
        at_end_ = at_end;
        result_ = {};
        visited_.clear();
        path_.clear();
        for (Location& location : locations_) {
            location.stores.resize(1);
            location.writer.reset();
            location.read.assign(programs.size(), 0);
        }
        processes_.assign(programs.size(), {});
        for (Process& process : processes_)
            process.view.assign(locations_.size() + programs.size(), 0);
        try {
            for (std::size_t p = 0; p < programs.size(); ++p) run(p);
            explore();
        } catch (const Violation& violation) {
            result_.violation = violation.what() + path();
        }
        result_.states = visited_.size();
        return result_;
    }

    // Interface for the programs.

    /// Polls until `condition`, which loads once, holds.
    void wait(const std::function<bool()>& condition) {
        for (;;) {
            const std::size_t first = cursor_;
            const bool holds = condition();
            if (cursor_ != first + 1) throw std::logic_error("a condition has to load once");
            if (holds) return;
            if (cursor_ == self().seen.size() && !news_) throw NoStep{};
        }
    }
    void require(bool holds, const std::string& otherwise) {
        if (!holds) throw Violation("process " + std::to_string(running_) + ": " + otherwise);
    }

    // Interface for the atomics.

    static Model& the_one() { return *current; }

    std::size_t add(std::uint64_t initial) {
        locations_.push_back({{{initial, {}}}, {}, {}});
        return locations_.size() - 1;
    }
    std::uint64_t load(std::size_t location, std::memory_order order) {
        if (order != std::memory_order_relaxed && order != std::memory_order_acquire)
            throw std::logic_error("the model has relaxed and acquire loads only");
        if (cursor_ < self().seen.size())
            return locations_[location].stores[self().seen[cursor_++]].value;
        self().next = {location, order};
        throw Paused{};
    }
    void store(std::size_t location, std::uint64_t value, std::memory_order order) {
        if (order != std::memory_order_relaxed && order != std::memory_order_release)
            throw std::logic_error("the model has relaxed and release stores only");
        if (stores_++ < self().stored.size()) return;  // made when this step was first taken
        Location& at = locations_[location];
        if (at.writer.value_or(running_) != running_)
            throw std::logic_error("the model has one writer a location only");
        at.writer = running_;
        View& view = self().view;
        view[location] = at.stores.size();
        const bool release = order == std::memory_order_release;
        for (std::size_t p = 0; p < processes_.size() && !release; ++p)
            if (p != running_ && at.read[p] > view[locations_.size() + p]) ++result_.races;
        at.stores.push_back({value, release ? view : View{}});
        self().stored.push_back(location);
    }

  private:
    /// By location, the oldest store that may be seen; then by process, how many of its loads
    /// happened before.
    using View = std::vector<std::size_t>;
    struct Store {
        std::uint64_t value;
        View view;  // empty if relaxed
    };
    struct Location {
        std::vector<Store> stores;
        std::optional<std::size_t> writer;
        std::vector<std::size_t> read;  // by process, the number of its last load here
    };
    struct Load {
        std::size_t location = 0;
        std::memory_order order{};
    };
    struct Process {
        std::vector<std::size_t> seen;    // by load, which store
        std::vector<std::size_t> stored;  // by store, where
        View view;
        Load next;  // where it stands, unless finished
        bool finished = false;
    };
    struct Paused {};  // at its next load
    struct NoStep {};
    struct Violation : std::runtime_error {
        using std::runtime_error::runtime_error;
    };
    struct Step {
        std::size_t process, location;
        std::uint64_t value;
    };

    Process& self() { return processes_[running_]; }

    /// Takes the process to its next load, or its end; false if its last load was no step.
    bool run(std::size_t p) {
        running_ = p;
        cursor_ = stores_ = 0;
        try {
            programs_[p]();
            self().finished = true;
        } catch (const Paused&) {
        } catch (const NoStep&) {
            return false;
        }
        return true;
    }

    void explore() {
        if (!visited_.insert(state()).second) return;
        if (visited_.size() > most_states) throw std::logic_error("too many states");
        bool goes_on = false;
        bool ended = true;
        for (std::size_t p = 0; p < processes_.size(); ++p) {
            if (processes_[p].finished) continue;
            ended = false;
            const std::size_t location = processes_[p].next.location;
            for (std::size_t store = processes_[p].view[location];
                 store < locations_[location].stores.size(); ++store)
                if (step(p, store)) goes_on = true;
        }
        if (ended) {
            ++result_.ends;
            if (at_end_) at_end_();
        } else if (!goes_on) {
            throw Violation("all wait for what nobody will store");
        }
    }

    /// The process's next load sees this store. False if that is no step.
    bool step(std::size_t p, std::size_t store) {
        Process& process = processes_[p];
        const Process before = process;
        Location& from = locations_[process.next.location];
        const std::size_t read_before = from.read[p];

        View& view = process.view;
        std::size_t& known = view[process.next.location];
        if (process.next.order == std::memory_order_relaxed && known + 1 < from.stores.size())
            ++result_.races;
        news_ = store > known;
        known = store;
        from.read[p] = ++view[locations_.size() + p];
        const View& joined = from.stores[store].view;
        if (process.next.order == std::memory_order_acquire)
            for (std::size_t i = 0; i < joined.size(); ++i) view[i] = std::max(view[i], joined[i]);
        process.seen.push_back(store);
        path_.push_back({p, process.next.location, from.stores[store].value});

        const bool goes_on = run(p);
        if (goes_on) explore();

        path_.pop_back();
        for (; process.stored.size() > before.stored.size(); process.stored.pop_back())
            locations_[process.stored.back()].stores.pop_back();
        process = before;
        from.read[p] = read_before;
        return goes_on;
    }

    /// The values that all loads saw, which determine memory and views.
    std::vector<std::size_t> state() const {
        std::vector<std::size_t> state;
        for (const Process& process : processes_) {
            state.push_back(process.seen.size());
            state.insert(state.end(), process.seen.begin(), process.seen.end());
        }
        return state;
    }

    std::string path() const {
        std::string text;
        for (const Step& step : path_)
            text += "\n  process " + std::to_string(step.process) + " sees " +
                    std::to_string(step.value) + " in location " + std::to_string(step.location);
        return text;
    }

    static constexpr std::size_t most_states = 1'000'000;
    static inline Model* current = nullptr;

    std::vector<Location> locations_;
    std::vector<Program> programs_;
    std::function<void()> at_end_;
    std::vector<Process> processes_;
    std::size_t running_ = 0;              // the process that runs,
    std::size_t cursor_ = 0, stores_ = 0;  // its loads and stores in this run,
    bool news_ = false;                    // and whether its last load saw something newer
    std::set<std::vector<std::size_t>> visited_;
    std::vector<Step> path_;
    Result result_;
};

/// Stands in for std::atomic. `weaken` tells what becomes of an order that the code asks for.
template <class T, std::memory_order (*weaken)(std::memory_order)>
class BasicAtomic {
  public:
    BasicAtomic() : BasicAtomic(T{}) {}
    explicit BasicAtomic(T initial) : location_(Model::the_one().add(initial)) {}
    BasicAtomic(const BasicAtomic&) = delete;
    BasicAtomic& operator=(const BasicAtomic&) = delete;
    T load(std::memory_order order) const {
        return static_cast<T>(Model::the_one().load(location_, weaken(order)));
    }
    void store(T value, std::memory_order order) {
        Model::the_one().store(location_, value, weaken(order));
    }

  private:
    std::size_t location_;
};

constexpr std::memory_order as_asked(std::memory_order order) {
    return order;
}
constexpr std::memory_order never_release(std::memory_order order) {
    return order == std::memory_order_release ? std::memory_order_relaxed : order;
}
constexpr std::memory_order never_acquire(std::memory_order order) {
    return order == std::memory_order_acquire ? std::memory_order_relaxed : order;
}

template <class T>
using Atomic = BasicAtomic<T, as_asked>;
template <class T>
using AtomicWithoutRelease = BasicAtomic<T, never_release>;
template <class T>
using AtomicWithoutAcquire = BasicAtomic<T, never_acquire>;

}  // namespace hocket::shm::model

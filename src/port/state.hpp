// SPDX-License-Identifier: BSD-3-Clause
// A port as one process of its program knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/call.hpp"
#include "comm/closing.hpp"
#include "comm/state.hpp"
#include "comm/texts.hpp"
#include "hocket/port.hpp"
#include "net/boxes.hpp"
#include "net/observer_messages.hpp"
#include "port/part_memory.hpp"

namespace hocket::port {

class Host;

/// Sections that are on their way to observers at once, at most one for each observer. Each has a
/// slot of its own, so that an observer that takes no bytes delays no other one.
inline constexpr int most_sections = 8;

/// The requests of observers for one poll: parameters change first, then sections are copied.
struct Batch {
    struct Section {
        std::string name;
        std::vector<Slice> slices;
        int slot;
        bool maps = false;  // on process 0: the observer maps this process's part
    };
    std::vector<std::pair<std::string, Value>> changes;
    std::vector<Section> sections;
};

/// The poll at which a batch is carried out, by all processes or by none.
struct AgreedPoll {
    std::int64_t round = 0, poll = 0;
    Batch batch;
    bool decided = false;
};

/// A section of an array that is distributed by explicit lists. To look up each of its elements
/// takes the program longer than to send them, so that it is kept for the next picture.
struct ListedSection {
    Layout of;
    std::vector<Slice> slices;
    Layout section;
    std::vector<std::int64_t> places;  // of this process's elements in its memory
};

struct State : std::enable_shared_from_this<State> {
    // Tags of the link: messages of process 0, answers to it, elements of the section in slot 0.
    static constexpr int from_root = 1, answers = 2, elements = 3;

    explicit State(Comm on) : comm(std::move(on)) {}

    Comm comm;
    std::string name, task, key;
    std::string address;  // host:port for other hosts; "": none
    std::string socket;   // its path on the host of process 0
    bool secure = true;
    comm::OwnedLink link;
    std::vector<std::pair<std::string, Array>> arrays;
    std::vector<std::pair<std::string, std::shared_ptr<Value>>> parameters;
    std::int64_t polls = 0;
    std::optional<AgreedPoll> agreed;
    std::shared_ptr<Host> host;                      // on process 0
    std::optional<comm::Texts> from_first;           // on the others
    std::list<std::shared_ptr<comm::Call>> sending;  // sections on their way to process 0
    double next_check = 0;
    std::shared_ptr<const ListedSection> last_section;
    double last_section_at = 0;
    bool closed = false, end_received = false;

    bool first() const { return comm.rank() == 0; }
    const Array* array(const std::string& wanted) const;
    std::shared_ptr<Value> parameter(const std::string& wanted) const;
    void require_open() const;
    /// The layout of a section for observers.
    Layout section(const Array& array, const std::vector<Slice>& slices);
    net::IndexLists places(const Array& array, const std::vector<Slice>& slices);
    /// Frees what was made for observers, once none has needed it for some seconds.
    void free_unused(double now);
    /// A short text to another process, in order; nobody waits for it.
    void send(int to, int tag, const std::string& text);
    /// Starts what goes on while other things are waited for.
    static void begin(const std::shared_ptr<comm::Call>& call);
    /// On processes other than 0: receives all that process 0 has sent.
    void receive();
};

/// Carries the batch out on this process: values, then this process's part of each section, which
/// goes to process 0. There: the own parts, by section.
using OwnParts = std::vector<Part>;
OwnParts carry_out(State& state, const Batch& batch);

/// A collective call: `check` finds faults on this process; `act` runs on process 0 once no process
/// has a fault. All processes return its result.
std::string together(const Comm& comm, const std::string& text, const std::function<void()>& check,
                     std::function<std::string()> act, Deadline deadline);

/// An array as observers know it.
ObservedArray entry_of(const std::string& name, const Array& array);

/// Whether that process gives its part of a section: of equal copies one is enough.
bool sends_part(const Layout& section, std::int64_t process);

}  // namespace hocket::port

// SPDX-License-Identifier: BSD-3-Clause
// Matching of messages and receives by MPI's rules, between tasks. The lowest process of the
// receiving task has the matcher and decides for the whole task.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "comm/texts.hpp"
#include "hocket/array.hpp"
#include "task/known_layouts.hpp"
#include "task/requested_options.hpp"

namespace hocket::task {

/// The typical size of the envelope of a message with one array.
inline constexpr std::size_t typical_bytes = 128;

/// A description of an array: its layout and type, not its memory.
struct ArrayDescriptor {
    std::optional<Layout> layout;  // none: only the type matters
    std::string dtype;             // empty: not known yet
    std::int64_t itemsize = 0;

    static ArrayDescriptor of(const Array& array);
    /// @throws Error if there is no layout.
    const Layout& value() const;
    /// "float64 (8) (BLOCK) @ (2)", shortened as layout::label.
    std::string text() const;
};
std::vector<ArrayDescriptor> descriptors_of(std::span<const Array> arrays);
/// `known`: the layouts that the receiver knows, which both sides change alike.
void pack(Packer& out, const std::vector<ArrayDescriptor>& descriptors, KnownLayouts& known);
/// An error leaves `known` as it was.
std::vector<ArrayDescriptor> unpack_descriptors(Unpacker& in, KnownLayouts& known);
void keep(KnownLayouts& known, const std::vector<ArrayDescriptor>& descriptors);

/// The stream of the envelopes that announce receives: each describes the receive, and `send` is
/// the last envelope that had come from the other task.
inline constexpr const char* open_receive = "open receive";

/// The sending task's description of a message, which precedes its data.
struct Envelope {
    int source = 0;  // task
    int tag = 0;
    std::int64_t send = 0;  // the sender's number of this send
    std::string stream;     // messages of a stream match receives of the same stream only
    std::vector<ArrayDescriptor> descriptors;  // of the arrays, in order
    comm::Fault fault;                // the reason why there is no message: the receiver gets this
                                      // error instead
    std::int64_t persistent_id = 0;   // persistent: the sender's number of the request
    bool once = false;                // persistent: at most one start is announced
    bool departure = false;           // no more messages come from this task, for the reason in
                                      // `fault`
    RequestedOptions requested = {};  // of a reply: negotiated, with nothing left open
    std::vector<std::string> offer = {};  // digests of layouts that the reply may name by them
    /// The elements of all arrays, if the sender expects the receiver's layouts to equal its own.
    std::shared_ptr<const std::string> elements = nullptr;
    bool unreadable = false;  // on the receiver: `fault` says why; the sender waits for a reply

    void pack(Packer& out, KnownLayouts& known) const;
    std::string packed(KnownLayouts& known) const;
    static Envelope unpacked(Unpacker& in, KnownLayouts& known);
    /// An envelope of any task; `known`: by task. If all but the beginning is unreadable, says so.
    /// @throws Error for a task that does not exist.
    static Envelope unpacked(const std::string& bytes, std::vector<KnownLayouts>& known);

  private:
    void unpack_beginning(Unpacker& in);
    void unpack_rest(Unpacker& in, KnownLayouts& known);
};

/// A receive or a probe that waits for an envelope.
struct PostedReceive {
    int source = -1, tag = -1;  // -1: any
    std::string stream;
    bool take = true;  // a probe does not remove the envelope
    std::optional<Envelope> found;
    bool announced = false;  // the sender knows of it

    bool fits(const Envelope& envelope) const {
        if (envelope.departure) return source == envelope.source;  // a departure matches any tag
        return stream == envelope.stream && (source < 0 || source == envelope.source) &&
               (tag < 0 || tag == envelope.tag);
    }
};

class OpenReceives;

/// Matches envelopes in the order of their arrival, and receives in the order of their posting, so
/// messages between two tasks do not overtake each other.
class Matcher {
  public:
    /// `lowest[task]`: the rank that sends the task's envelopes.
    void open(comm::Link& link, int envelope_tag, std::vector<int> lowest);
    void post(PostedReceive& wanted);
    /// No effect on one that has found an envelope.
    void withdraw(PostedReceive& wanted);
    /// Drops the envelopes of a stream that no receive has matched; of one send, or (negative) of
    /// all. Returns whether there was one.
    bool drop(int source, const std::string& stream, std::int64_t send);
    /// Receives the envelopes that have arrived. @throws Error for one without a valid beginning,
    /// which it drops.
    void pump();
    /// Whether a receive that is posted now may be announced: the sender knows of all earlier ones
    /// that may take its messages, and these are few.
    bool may_announce(const PostedReceive& wanted) const;
    /// The number of the last envelope of a task.
    std::int64_t last_of(int source) const { return last_[static_cast<std::size_t>(source)]; }
    /// Of another task, as this one's sends may meet them.
    OpenReceives& receives_of(int task) { return *receives_[static_cast<std::size_t>(task)]; }
    /// The departure notice of a task, if it has sent one.
    const Envelope* departure_of(int source) const;

  private:
    void arrive(Envelope envelope);
    void arrive(int from, const std::string& bytes);

    std::optional<comm::Texts> texts_;
    std::deque<Envelope> unexpected_;
    std::list<PostedReceive*> posted_;
    std::vector<KnownLayouts> known_;                      // of each task's envelopes
    std::vector<int> lowest_;                              // of each task
    std::vector<std::int64_t> last_;                       // of each task's envelopes: its number
    std::vector<std::shared_ptr<OpenReceives>> receives_;  // of each task
};

}  // namespace hocket::task

// SPDX-License-Identifier: BSD-3-Clause
// Elements of short messages between two tasks of one process each, which travel with the envelope:
// so the receiver has them at once, without two more messages: its reply, and the elements.
//
// The sender expects that the receiver's layouts equal its own. Both processes learn from the reply
// whether they do; otherwise the receiver drops these elements, and the sender sends them again,
// and sends none early from arrays of that layout. The sender returns only with the reply, or with
// the announcement of the receive in its place, so a mismatch is an error on both processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hocket/plan.hpp"
#include "task/member.hpp"
#include "task/rendezvous.hpp"

namespace hocket::task {

/// Whether both tasks have one process each, of this job, and share no node. Within a node the
/// elements take no message of their own; processes of other jobs may run another version.
bool one_process_each(const Tasks::State& all, int mine, int other);

/// The elements of a send that may travel early; otherwise nothing.
std::shared_ptr<const std::string> elements_for_envelope(const Tasks::State& all, const Member& me,
                                                         const MessageCall& call,
                                                         const std::vector<Array>& arrays);

/// On a sender, once it knows the receiver's layouts: whether elements may travel early again.
void note_layouts(Member& me, int other, const std::vector<Array>& arrays, const Envelope& met);

/// Whether the elements of `met` serve this process's arrays; both processes find the same. `met`:
/// the other side's description, with the elements if they came, or left, early.
bool came_early(const std::vector<Array>& arrays, const Envelope& met);

/// The options of the plan for a transfer of this array.
plan::Options options_of(const Array& array, const RequestedOptions& negotiated);

/// Elements in an envelope until its reply has come: so a process holds a bounded number of bytes
/// for which it has not asked.
class ElementsWithoutReply {
  public:
    /// Takes them if that task then has at most 1 MiB of them without a reply.
    ElementsWithoutReply(Member& me, int to, std::shared_ptr<const std::string> elements);
    ElementsWithoutReply(const ElementsWithoutReply&) = delete;
    ElementsWithoutReply& operator=(const ElementsWithoutReply&) = delete;
    ~ElementsWithoutReply();
    const std::shared_ptr<const std::string>& get() const { return elements_; }

  private:
    Member& me_;
    int to_;
    std::shared_ptr<const std::string> elements_;
};

}  // namespace hocket::task

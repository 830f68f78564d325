// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests: exchange descriptors, make the plan and connect once; each start then only
// sets flags. CDT's init, exec and free (Foster, Kohr, Krishnaiyer and Choudhary, "A Data Transfer
// Library for Communicating Data-Parallel Tasks", section 2.1).
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "comm/call.hpp"
#include "hocket/task.hpp"
#include "task/member.hpp"
#include "task/rendezvous.hpp"
#include "transfer/executor.hpp"

namespace hocket::task {

class Persistent final : public comm::Activity, public std::enable_shared_from_this<Persistent> {
  public:
    /// `call` has one descriptor; without a type, the array of the first start sets it. `array`:
    /// for starts without an array.
    Persistent(std::shared_ptr<Tasks::State> all, std::shared_ptr<Member> me, MessageCall call,
               std::optional<Array> array);

    /// @throws Error if it was freed, or is under way: that is, until the program has waited for
    /// it;
    ///         LayoutError, MismatchError for an array of another layout, type or communicator.
    void start(const Array* array);
    /// @throws Error while it is under way, and the second time.
    void free();
    /// Notes that the program has seen the end of the last start.
    void note_wait() { awaited_ = !active_; }
    /// @throws Error unless it was started.
    void require_started() const;

    bool poll() override;
    bool ended() const override { return !active_; }
    std::string text() const override { return text_; }
    /// Set at the end of the first start.
    const std::shared_ptr<std::optional<Status>>& found() const { return found_; }

    const std::shared_ptr<comm::Call>& preparation() const { return preparation_; }
    struct Prepared;  // results of the preparation

  private:
    void launch();
    void end();
    void require_fitting(const Array& array) const;
    const Layout& layout() const { return call_.descriptors[0].value(); }

    std::shared_ptr<Tasks::State> all_;
    std::shared_ptr<Member> me_;
    MessageCall call_;
    std::optional<Array> array_;
    std::string text_;
    std::shared_ptr<Prepared> prepared_;
    std::shared_ptr<comm::Call> preparation_;
    std::shared_ptr<std::optional<Status>> found_;
    void* data_ = nullptr;              // of the start under way
    std::shared_ptr<const void> keep_;  // its owner
    std::exception_ptr error_;
    bool active_ = false, launched_ = false, started_ = false, freed_ = false;
    bool restrided_ = false, listed_ = false;  // with the engine
    bool awaited_ = true;  // the last start: its end alone, which processes see at different times,
                           // permits no next one
};

}  // namespace hocket::task

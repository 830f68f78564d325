// SPDX-License-Identifier: BSD-3-Clause
// A channel whose frames arrive exactly once, also after either job restarts. Frames have the
// numbers 1, 2, … of their stream, as tags of their messages.
//
//   1. Each task tells the other, as soon as it has the channel, the last frame that it has
//      received ("position"): at its creation, and whenever the jobs have met again.
//   2. The sender skips frames that the receiver has, and sends the kept frames that it misses.
//   3. The receiver acknowledges each frame once all of its processes have it.
//   4. If a process is lost, all processes of the task agree that the frame has failed, meet the
//      other job again (`Tasks::State::meet_again`), and begin at 1.
//
// Invariant: all processes of a task are at the same frame, because each call ends with an
// agreement of the task. So after a loss all repeat the same frame.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "comm/agree.hpp"
#include "hocket/task.hpp"
#include "task/exchange.hpp"
#include "task/member.hpp"
#include "task/stream_news.hpp"

namespace hocket::task {

class KeptChannel {
  public:
    /// `name`: the channel's, by which `resume` knows it. `keep`: so many frames stay in memory.
    KeptChannel(All all, int other, std::string name, std::int64_t keep,
                std::optional<std::int64_t> last);

    /// Nothing instead of an array: `fault` is this process's error. @throws MismatchError for
    /// frames that the receiver misses and that are not kept any more; PeerLostError if the other
    /// job does not come back; as Channel.
    void send(const Array* array, Fault fault, const Deadline& deadline);
    Status recv(const Array* array, Fault fault, const Deadline& deadline);
    /// Waits until the other task has received all frames.
    void close(const Deadline& deadline);

    std::int64_t sent() const { return sent_; }
    std::int64_t received() const { return received_; }
    /// The jobs have met again.
    void follow(const All& all);

  private:
    using Frame = std::variant<Array, Fault>;  // the fault in place of an array
    void repeat(const Deadline& deadline, const std::function<void()>& work);
    void meet_again(const std::string& why, const Deadline& deadline);
    void send_missing(const Deadline& deadline);
    void send_one(std::int64_t number, const Frame& frame, const Deadline& deadline);
    void learn_position(const Deadline& deadline);
    void number_channel();
    void keep(const Array* array, Fault fault);

    All all_;
    Me me_;
    int other_;
    std::string name_, stream_;
    std::int64_t keep_, sent_ = 0, delivered_ = 0, received_ = 0;
    std::int64_t channel_ = 0;  // its number in its stream, since the last meeting
    std::int64_t start_ = 0;    // delivered_, as the receiver last told its position
    std::int64_t sending_ = 0;  // the frame whose message is under way
    bool refused_ = false;      // it: before any data moved
    bool takes_any_ = true;     // the next frame that comes, whatever its number
    bool settled_ = false;      // since the last meeting the position is known
    std::deque<Frame> frames_;  // the last ones, to sent_
};

}  // namespace hocket::task

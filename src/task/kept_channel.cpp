// SPDX-License-Identifier: BSD-3-Clause
#include "task/kept_channel.hpp"

#include <algorithm>
#include <utility>

#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/kernel.hpp"
#include "task/stream_news.hpp"

namespace hocket::task {
namespace {

// Positions of a receiver that takes the next frame, whatever its number: a new one, and one that
// has said so before.
constexpr std::int64_t any_position = -1, as_before = -2;

// Frame numbers as tags, which have 31 bits.
int tag_of(std::int64_t number) {
    return static_cast<int>(number & 0x7fffffff);
}

}  // namespace

KeptChannel::KeptChannel(All all, int other, std::string name, std::int64_t keep,
                         std::optional<std::int64_t> last)
    : all_(std::move(all)),
      me_(all_, all_->mine.begin()->second.get()),
      other_(other),
      name_(std::move(name)),
      stream_(kept_stream(name_)),
      keep_(keep) {
    if (const auto found = all_->resume.find(name_); !last && found != all_->resume.end())
        last = found->second;
    takes_any_ = !last;
    if (last) sent_ = delivered_ = start_ = received_ = *last;
    number_channel();
    announce(all_, me_, other_, position_of, stream_, takes_any_ ? any_position : received_,
             channel_);
}

void KeptChannel::number_channel() {
    const comm::EngineLock engine_lock;
    channel_ = ++me_->news[{other_, stream_}].made;
    me_->keeps_frames = true;
}

void KeptChannel::follow(const All& all) {
    if (all == all_) return;
    me_ = Me(all, all->mine.begin()->second.get());
    all_ = all;
    settled_ = false;
    number_channel();
    announce(all_, me_, other_, position_of, stream_, takes_any_ ? as_before : received_, channel_);
}

void KeptChannel::repeat(const Deadline& deadline, const std::function<void()>& work) {
    for (;;) {
        while (all_->next) follow(all_->next);
        std::string why;
        try {
            return agree_on(me_, stream_, work);
        } catch (const JobLostError& error) {
            if (!all_->meet_again) throw;
            why = error.what();
        }
        meet_again(why, deadline);
    }
}

void KeptChannel::meet_again(const std::string& why, const Deadline& deadline) {
    const All next = all_->meet_again(why, deadline);
    next->profile = all_->profile;
    next->resume = all_->resume;
    next->channels = std::exchange(all_->channels, {});
    all_->next = next;
    for (const auto& channel : next->channels)
        if (const auto alive = channel.lock()) alive->follow(next);
    follow(next);
}

// The lowest process decides for all, which may have sent the last frame or not.
void KeptChannel::learn_position(const Deadline& deadline) {
    if (settled_) return;
    const std::int64_t before_kept = sent_ - static_cast<std::int64_t>(frames_.size());
    const std::int64_t position = await_number(
        all_, me_, other_, stream_, channel_,
        [any = std::max(delivered_, before_kept), start = start_,
         channel = channel_](const StreamNews& news) -> std::optional<std::int64_t> {
            if (news.announced < channel) return std::nullopt;  // of an earlier channel
            if (news.position == any_position) return any;
            return news.position == as_before ? start : news.position;
        },
        "task '" + all_->names[static_cast<std::size_t>(other_)] + "', which has to make " +
            stream_ + " (keep=), too",
        deadline);
    settled_ = true;
    delivered_ = start_ = position;
    if (position >= before_kept) return;
    // The receiver gets the error in place of the next frame; then all goes on behind the gap.
    delivered_ = start_ = before_kept;
    const Fault gap{comm::GapError::kind,
                    stream_ + ": task '" + all_->names[static_cast<std::size_t>(other_)] +
                        "' has received frames up to " + std::to_string(position) + ", and task '" +
                        me_->name() + "' keeps them from " + std::to_string(before_kept + 1) +
                        " on: frames " + std::to_string(position + 1) + " to " +
                        std::to_string(before_kept) +
                        " are lost; keep more (keep=), or restart from an earlier state (resume=)"};
    MessageCall sending{true, {}, other_, tag_of(before_kept), gap, stream_};
    sending.abandoned = true;
    std::shared_ptr<Pending> pending;
    {
        const comm::EngineLock engine_lock;
        pending = start_message(all_, me_, std::move(sending), {});
    }
    finish_or_break(*pending, deadline, other_);
}

void KeptChannel::keep(const Array* array, Fault fault) {
    try {
        frames_.push_back(fault ? Frame(std::move(fault)) : Frame(copy_of(*array)));
    } catch (const Error&) {
        frames_.emplace_back(Fault::current());
    }
    ++sent_;
    if (static_cast<std::int64_t>(frames_.size()) > keep_) frames_.pop_front();
}

void KeptChannel::send_one(std::int64_t number, const Frame& frame, const Deadline& deadline) {
    std::vector<Array> arrays;
    if (const auto* array = std::get_if<Array>(&frame)) arrays.push_back(*array);
    const auto* fault = std::get_if<Fault>(&frame);
    sending_ = number;
    std::shared_ptr<Pending> pending;
    {
        const comm::EngineLock engine_lock;
        MessageCall sending{true,           descriptors_of(arrays),   other_,
                            tag_of(number), fault ? *fault : Fault{}, stream_};
        pending = start_message(all_, me_, std::move(sending), arrays);
    }
    try {
        finish_or_break(*pending, deadline, other_);
    } catch (...) {
        // All processes of the task share an error that precedes the data.
        refused_ = pending->call->ended() && !*pending->pieces;
        throw;
    }
    sending_ = 0;
    delivered_ = number;
}

// Before the next frame, all processes agree on this one: else one waits for another to send.
void KeptChannel::send_missing(const Deadline& deadline) {
    sending_ = 0;
    if (!frames_.empty() || !settled_) learn_position(deadline);
    std::int64_t number = sent_ - static_cast<std::int64_t>(frames_.size());
    for (const Frame& frame : frames_) {
        if (++number <= delivered_) continue;
        if (number == sent_) return send_one(number, frame, deadline);
        agree_on(me_, stream_, [&] { send_one(number, frame, deadline); });
    }
}

void KeptChannel::send(const Array* array, Fault fault, const Deadline& deadline) {
    if (!fault) {
        try {
            me_->require_intact(other_, stream_);
            fault = fault_of(*me_, *array, false);
        } catch (const Error&) {
            fault = Fault::current();
        }
    }
    keep(array, std::move(fault));
    try {
        repeat(deadline, [&] { send_missing(deadline); });
    } catch (const PeerLostError&) {
        throw;  // the frame stays: it travels once the other job is back
    } catch (const DeadlineError&) {
        throw;
    } catch (...) {
        if (std::exchange(sending_, 0) == sent_) {
            delivered_ = sent_;  // as on processes that have sent it
            if (refused_) {      // no process has received it
                frames_.pop_back();
                delivered_ = --sent_;
            }
        }
        throw;
    }
}

Status KeptChannel::recv(const Array* array, Fault fault, const Deadline& deadline) {
    if (!fault) {
        try {
            me_->require_intact(other_, stream_);
            fault = fault_of(*me_, *array, true);
        } catch (const Error&) {
            fault = Fault::current();
        }
    }
    std::vector<Array> arrays;
    if (array != nullptr && !fault) arrays.push_back(*array);
    std::optional<Status> status;
    try {
        repeat(deadline, [&] {
            std::shared_ptr<Pending> pending;
            {
                const comm::EngineLock engine_lock;
                MessageCall receiving{false,  descriptors_of(arrays), other_, any_tag, fault,
                                      stream_};
                receiving.channel = channel_;
                receiving.deadline = deadline;
                pending = start_message(all_, me_, std::move(receiving), arrays);
            }
            status = finish_or_break(*pending, with_grace(deadline), other_);
        });
    } catch (const comm::GapError&) {
        takes_any_ = true;
        throw;
    }
    const std::int64_t number = takes_any_ ? std::int64_t{status->tag} : received_ + 1;
    if (status->tag != tag_of(number))
        throw Error(stream_ + " brings frame " + std::to_string(status->tag) + " where frame " +
                    std::to_string(number) + " comes next");
    received_ = number;
    takes_any_ = false;
    announce(all_, me_, other_, acknowledgement_of, stream_, received_);
    return *status;
}

void KeptChannel::close(const Deadline& deadline) {
    bool complete = frames_.empty();
    try {
        repeat(deadline, [&] {
            if (!complete) {
                agree_on(me_, stream_, [&] { send_missing(deadline); });
                // A receiver that takes any frame acknowledges none from before the last meeting.
                await_number(
                    all_, me_, other_, stream_, channel_,
                    [last = delivered_,
                     start = start_](const StreamNews& news) -> std::optional<std::int64_t> {
                        if (last == start || news.acknowledged >= last) return last;
                        return std::nullopt;
                    },
                    "the acknowledgement of frame " + std::to_string(delivered_) + " on " + stream_,
                    deadline);
                complete = true;
            }
            MessageCall sending{true, {}, other_, tag_of(sent_ + 1), {}, stream_};
            sending.end = true;
            std::shared_ptr<Pending> pending;
            {
                const comm::EngineLock engine_lock;
                pending = start_message(all_, me_, std::move(sending), {});
            }
            finish_or_break(*pending, deadline, other_);
        });
    } catch (const PeerLostError&) {
        if (!complete) throw;  // else it has all frames, and has left
    }
    frames_.clear();
}

}  // namespace hocket::task

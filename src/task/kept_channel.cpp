// SPDX-License-Identifier: BSD-3-Clause
#include "task/kept_channel.hpp"

#include <algorithm>
#include <utility>

#include "base/pack.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/kernel.hpp"
#include "task/reunion.hpp"

namespace hocket::task {
namespace {

constexpr std::int64_t any_position = -1;
constexpr char position_of = 'p', acknowledgement_of = 'a';  // as Member::receive_news reads

// Frame numbers as tags, which have 31 bits.
int tag_of(std::int64_t number) {
    return static_cast<int>(number & 0x7fffffff);
}

Array copy_of(const Array& array) {
    Array copy = Array::empty(array.layout(), array.dtype(), array.comm());
    if (array.process() >= 0)
        kernel::Copy(array.local_shape(), array.dtype().size, array.strides(), copy.strides())
            .run(array.data(), copy.data());
    return copy;
}

// A number that the lowest process finds, on every process of the task.
Protocol<> find_number(All all, Me me, int other, int tag,
                       std::function<std::optional<std::int64_t>()> number, Deadline deadline,
                       std::shared_ptr<std::int64_t> out) {
    Fault fault;
    std::optional<std::int64_t> found;
    if (me->group.lowest()) {
        try {
            comm::When known([&] {
                me->receive_news();
                found = number();
                if (!found) all->link->need(me->lowest_of(other));
                return found || deadline.passed();
            });
            co_await comm::until(known);
            if (!found)
                fault = {"DeadlineError", "task '" + all->names[static_cast<std::size_t>(other)] +
                                              "' has not answered in time"};
        } catch (const Error&) {
            fault = Fault::current();
        }
    }
    Packer packer;
    packer.text(fault.kind).text(fault.message).number(found.value_or(0));
    const std::string text = co_await comm::broadcast(me->group, tag, packer.take());
    Unpacker in(text);
    fault.kind = in.text();
    fault.message = in.text();
    *out = in.number();
    if (fault) fault.raise();
}

Protocol<> agreement(Comm on, int tag, comm::CallSignature mine) {
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    static_cast<void>(co_await comm::agree(all, tag, std::move(mine)));
}

}  // namespace

void Member::receive_news() {
    for (int other = 0; other < static_cast<int>(all->ranks.size()); ++other) {
        if (other == task) continue;
        comm::Texts& texts =
            news_texts.try_emplace(other, *group.link, lowest_of(other), tags.news(other))
                .first->second;
        while (const auto message = texts.next()) {
            Unpacker in(message->text);
            const std::string kind = in.text();
            StreamNews& of = news[in.text()];
            const std::int64_t number = in.number();
            if (kind == "p")
                of.position = number;
            else
                of.acknowledged = std::max(of.acknowledged, number);
        }
    }
}

KeptChannel::KeptChannel(All all, int other, std::string name, std::int64_t keep,
                         std::optional<std::int64_t> last)
    : all_(std::move(all)),
      me_(all_, all_->mine.begin()->second.get()),
      other_(other),
      name_(std::move(name)),
      stream_("channel '" + name_ + "' with kept frames"),
      keep_(keep) {
    if (const auto found = all_->resume.find(name_); !last && found != all_->resume.end())
        last = found->second;
    if (last) sent_ = delivered_ = received_.emplace(*last);
    announce(position_of, received_.value_or(any_position));
}

void KeptChannel::follow(const All& all) {
    if (all == all_) return;
    me_ = Me(all, all->mine.begin()->second.get());
    all_ = all;
    settled_ = false;
    announce(position_of, received_.value_or(any_position));
}

void KeptChannel::announce(char kind, std::int64_t number) {
    if (!me_->group.lowest()) return;
    const comm::EngineLock engine_lock;
    auto call = std::make_shared<comm::Call>(
        comm::send_text(*all_->link,
                        Packer().text(std::string(1, kind)).text(stream_).number(number).take(),
                        me_->lowest_of(other_), me_->tags.news(me_->task)),
        "news of " + stream_);
    try {
        if (!call->poll()) comm::Engine::instance().post_background(call);
    } catch (const PeerLostError&) {
        return;  // the next call of the channel finds it
    }
}

// All processes of the task get the error of one of them, and so repeat or end together.
void KeptChannel::agree_on(const std::function<void()>& work) {
    if (me_->comm.size() == 1) return work();
    comm::CallSignature mine;
    try {
        work();
    } catch (const std::exception&) {
        mine.fault = Fault::current();
    }
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            agreement(me_->comm, me_->comm.state().next_tag(), std::move(mine)),
            "the other processes of the task at " + stream_);
        comm::Engine::instance().add(call);
    }
    wait(*call);
}

void KeptChannel::repeat(const Deadline& deadline, const std::function<void()>& work) {
    for (;;) {
        while (all_->next) follow(all_->next);
        std::string why;
        try {
            return agree_on(work);
        } catch (const JobLostError& error) {
            if (!all_->reunion) throw;
            why = error.what();
        }
        meet_again(why, deadline);
    }
}

void KeptChannel::meet_again(const std::string& why, const Deadline& deadline) {
    const All next = all_->reunion->meet_again(why, deadline);
    next->profile = all_->profile;
    next->resume = all_->resume;
    next->channels = std::exchange(all_->channels, {});
    all_->next = next;
    for (const auto& channel : next->channels)
        if (const auto alive = channel.lock()) alive->follow(next);
    follow(next);
}

std::int64_t KeptChannel::await_number(const std::function<std::optional<std::int64_t>()>& number,
                                       const std::string& text, const Deadline& deadline) {
    auto out = std::make_shared<std::int64_t>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            find_number(all_, me_, other_, me_->tags.tree(me_->task, me_->calls++), number,
                        deadline, out),
            text);
        comm::Engine::instance().add(call);
    }
    wait(*call, with_grace(deadline));
    return *out;
}

void KeptChannel::learn_position(const Deadline& deadline) {
    if (settled_) return;
    const std::int64_t position =
        await_number([this] { return std::exchange(me_->news[stream_].position, std::nullopt); },
                     "task '" + all_->names[static_cast<std::size_t>(other_)] +
                         "', which has to make " + stream_ + " (keep=), too",
                     deadline);
    const std::int64_t before_kept = sent_ - static_cast<std::int64_t>(frames_.size());
    settled_ = true;
    if (position == any_position) {
        delivered_ = std::max(delivered_, before_kept);
        return;
    }
    delivered_ = position;
    if (position >= before_kept) return;
    // The receiver gets the error in place of the next frame; then all goes on behind the gap.
    delivered_ = before_kept;
    const Fault gap{"MismatchError",
                    stream_ + ": task '" + all_->names[static_cast<std::size_t>(other_)] +
                        "' has received frames up to " + std::to_string(position) + ", and task '" +
                        me_->name() + "' keeps them from " + std::to_string(before_kept + 1) +
                        " on: frames " + std::to_string(position + 1) + " to " +
                        std::to_string(before_kept) +
                        " are lost; keep more (keep=), or restart from an earlier state (resume=)"};
    SendCall sending{{}, other_, tag_of(before_kept), gap, stream_};
    sending.abandoned = true;
    std::shared_ptr<Pending> pending;
    {
        const comm::EngineLock engine_lock;
        pending = start_send(all_, me_, std::move(sending), {});
    }
    finish_or_break(*pending, deadline, other_);
}

void KeptChannel::keep(const Array* array, Fault fault) {
    ++sent_;
    frames_.push_back({sent_, std::nullopt, std::move(fault)});
    if (array != nullptr && !frames_.back().fault) frames_.back().array = copy_of(*array);
    if (static_cast<std::int64_t>(frames_.size()) > keep_) frames_.pop_front();
}

void KeptChannel::send_one(const Frame& frame, const Deadline& deadline) {
    std::vector<Array> arrays;
    if (frame.array) arrays.push_back(*frame.array);
    std::shared_ptr<Pending> pending;
    {
        const comm::EngineLock engine_lock;
        SendCall sending{descriptors_of(arrays), other_, tag_of(frame.number), frame.fault,
                         stream_};
        pending = start_send(all_, me_, std::move(sending), arrays);
    }
    finish_or_break(*pending, deadline, other_);
}

void KeptChannel::send_missing(const Deadline& deadline) {
    if (!frames_.empty() || !settled_) learn_position(deadline);
    for (const Frame& frame : frames_) {
        if (frame.number <= delivered_) continue;
        sending_ = frame.number;
        send_one(frame, deadline);
        sending_ = 0;
        delivered_ = frame.number;
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
        if (std::exchange(sending_, 0) == sent_) {  // no process has received it
            frames_.pop_back();
            --sent_;
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
                pending = start_receive(
                    all_, me_, {descriptors_of(arrays), other_, any_tag, fault, deadline, stream_},
                    arrays);
            }
            status = finish_or_break(*pending, with_grace(deadline), other_);
        });
    } catch (const MismatchError&) {
        received_.reset();  // after a gap, the next frame that comes is the one to take
        throw;
    }
    received_ = received_ ? *received_ + 1 : std::int64_t{status->tag};
    if (status->tag != tag_of(*received_))
        throw Error(stream_ + " brings frame " + std::to_string(status->tag) + " where frame " +
                    std::to_string(*received_) + " comes next");
    announce(acknowledgement_of, *received_);
    return *status;
}

void KeptChannel::close(const Deadline& deadline) {
    bool complete = frames_.empty();
    try {
        repeat(deadline, [&] {
            if (!complete) {
                send_missing(deadline);
                await_number(
                    [this]() -> std::optional<std::int64_t> {
                        const std::int64_t last = me_->news[stream_].acknowledged;
                        return last >= delivered_ ? std::optional(last) : std::nullopt;
                    },
                    "the acknowledgement of frame " + std::to_string(delivered_) + " on " + stream_,
                    deadline);
                complete = true;
            }
            SendCall sending{{}, other_, tag_of(sent_ + 1), {}, stream_};
            sending.end = true;
            std::shared_ptr<Pending> pending;
            {
                const comm::EngineLock engine_lock;
                pending = start_send(all_, me_, std::move(sending), {});
            }
            finish_or_break(*pending, deadline, other_);
        });
    } catch (const PeerLostError&) {
        if (!complete) throw;  // else it has all frames, and has left
    }
    frames_.clear();
}

}  // namespace hocket::task

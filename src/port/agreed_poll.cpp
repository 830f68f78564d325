// SPDX-License-Identifier: BSD-3-Clause
// How processes agree on a poll to come, without waiting for each other before it:
//
//   1. Process 0 proposes a poll that lies ahead, to all.
//   2. Each accepts it, or has passed it already and says how far it is.
//   3. Process 0 decides when it comes to that poll: carried out where all have accepted, else
//      called off and proposed anew, further ahead.
//
// A process that comes to the agreed poll earlier waits for the decision there. So a process that
// polls faster than process 0 is never further ahead of it than from one such poll to the next.
// Invariant: process 0 never waits, because at that poll it calls off what not all have accepted.
#include <algorithm>
#include <utility>

#include "base/platform.hpp"
#include "port/host.hpp"

namespace hocket::port {
namespace {

enum class PollMessage : std::uint8_t { propose = 1, carry_out = 2, call_off = 3, end = 4 };

void write_slices(net::Writer& writer, const std::vector<Slice>& slices) {
    net::SectionRequest request;
    request.slices = slices;
    net::write(writer, request);
}

}  // namespace

std::string proposal(const AgreedPoll& agreed) {
    net::Writer writer;
    writer.u8(static_cast<std::uint8_t>(PollMessage::propose)).i64(agreed.round).i64(agreed.poll);
    writer.u32(static_cast<std::uint32_t>(agreed.batch.changes.size()));
    for (const auto& [name, value] : agreed.batch.changes)
        net::write(writer, net::ParameterChange{0, name, value});
    writer.u32(static_cast<std::uint32_t>(agreed.batch.sections.size()));
    for (const auto& [name, slices, slot, maps] : agreed.batch.sections) {
        writer.text(name).u8(static_cast<std::uint8_t>(slot));
        write_slices(writer, slices);
    }
    return writer.str();
}

std::string decision(std::int64_t round, bool carried_out) {
    net::Writer writer;
    writer
        .u8(static_cast<std::uint8_t>(carried_out ? PollMessage::carry_out : PollMessage::call_off))
        .i64(round);
    return writer.str();
}

std::string end_message() {
    net::Writer writer;
    writer.u8(static_cast<std::uint8_t>(PollMessage::end));
    return writer.str();
}

std::string answer(std::int64_t round, bool accepted, std::int64_t polls) {
    net::Writer writer;
    writer.i64(round).u8(accepted ? 1 : 0).i64(polls);
    return writer.str();
}

void State::receive() {
    // Process 0 may be past a poll that is decided, and propose another, before this process is
    // there: its words wait until this process has carried the decided one out.
    while (closed || !agreed || !agreed->decided) {
        const auto message = from_first->next();
        if (!message) return;
        net::Reader reader(message->text);
        const auto kind = static_cast<PollMessage>(reader.u8());
        if (kind == PollMessage::end) {
            end_received = true;
            agreed.reset();
            continue;
        }
        const std::int64_t round = reader.i64();
        if (kind == PollMessage::propose) {
            AgreedPoll proposed;
            proposed.round = round;
            proposed.poll = reader.i64();
            for (std::size_t left = reader.u32(); left > 0; --left) {
                net::ParameterChange change = net::read_parameter_change(reader);
                proposed.batch.changes.emplace_back(std::move(change.name),
                                                    std::move(change.value));
            }
            for (std::size_t left = reader.u32(); left > 0; --left) {
                std::string of = reader.text(net::longest_text);
                const int slot = reader.u8();
                proposed.batch.sections.push_back(
                    {std::move(of), net::read_section_request(reader).slices, slot});
            }
            const bool ahead = proposed.poll >= polls && !closed;
            if (ahead) agreed = std::move(proposed);
            send(0, answers, answer(round, ahead, polls));
        } else if (agreed && agreed->round == round) {
            if (kind == PollMessage::carry_out)
                agreed->decided = true;
            else
                agreed.reset();
        }
    }
}

// Observers that ask without pause get at most a hundredth of the program's time: seven tenths of
// it for answers, as looks for requests take up to the rest. So the next request waits 160 times as
// long as the last answer took of this thread's processor time, to copy and to send, but at most
// some seconds. A change of a parameter takes little, and waits at most one.
constexpr double share = 0.006, longest_pause = 10, longest_before_a_change = 1;

void Host::charge(double seconds) {
    const double now = platform::seconds();
    const double left = std::max(0.0, debt_ - share * (now - debt_at_));
    debt_ = std::min(left + seconds, share * longest_pause);
    debt_at_ = now;
}

// A long answer to another host leaves bit by bit. Its first bytes, which a picture of 16 MiB does
// not exceed, may take a twentieth of the time since the last look. The others take the observers'
// share of the time, unless the program waits.
void Host::flush(bool polling) {
    constexpr double first_share = 0.05, first_least = 200e-6, least = 50e-6, most_at_first = 0.02,
                     most_waiting = 1e-3;
    const double now = platform::seconds(), passed = now - std::exchange(flushed_at_, now);
    sending_ = std::max(0.0, sending_ - share * passed);
    double allowed = std::max(first_least, first_share * passed);
    // A wait looks again soon, and what it waits for may come meanwhile.
    allowed = std::min(allowed, polling ? most_at_first - sending_ : most_waiting);
    if (allowed < least) return;
    for (const ObserverPointer& observer : observers_) observer->flush(now + allowed);
    if (polling) sending_ += platform::seconds() - now;
    // The next look begins with another observer.
    if (!observers_.empty()) observers_.splice(observers_.end(), observers_, observers_.begin());
}

void Host::propose(bool polling) {
    if (state_.agreed || finishing_ || (!may_begin_section() && changes_.empty())) return;
    // Requests that come while pictures are on their way are answered together, unless one of these
    // pictures takes long because its observer does.
    constexpr double patience = 0.05;
    if (collecting() && platform::seconds() < carried_out_at_ + patience) return;
    charge(0);
    // A proposal that came too late is repeated at once: after a pause it would be late again. An
    // answer to another observer may add to the debt at every poll.
    const double pause = platform::seconds() - carried_out_at_;
    const bool in_debt = debt_ > 0 && !repeats_ && pause < longest_pause;
    if (in_debt && (changes_.empty() || pause < longest_before_a_change)) return;
    repeats_ = false;
    AgreedPoll agreed;
    agreed.round = ++rounds_;
    const bool alone = state_.comm.size() == 1;
    // Within a poll of a program of one process it is this one.
    agreed.poll =
        alone ? state_.polls + (polling ? 0 : 1) : std::max(state_.polls, furthest_) + lookahead_;
    agreed_changes_ = std::exchange(changes_, {});
    if (!in_debt) begin_sections();
    for (const PendingChange& asked : agreed_changes_)
        agreed.batch.changes.emplace_back(asked.change.name, asked.change.value);
    for (const PendingSection& asked : agreed_sections_)
        agreed.batch.sections.push_back({asked.request.name, asked.request.slices, asked.slot,
                                         asked.request.maps && asked.observer->may_map()});
    agreed.decided = alone;
    accepted_ = 1;
    send_to_all(proposal(agreed));
    state_.agreed = std::move(agreed);
    patient_since_ = debt_at_;
    patient_at_ = state_.polls;
}

// A program that polled without pause, and now computes between polls, comes late to a poll that
// was near at its former pace.
void Host::call_off_what_lies_too_far() {
    constexpr double patience = 0.25;
    constexpr std::int64_t near = 8;
    if (!state_.agreed) return;
    const double now = platform::seconds();
    if (state_.polls < furthest_) {  // process 0 has to catch up, and the others wait for it
        patient_since_ = now;
        patient_at_ = state_.polls;
    }
    const std::int64_t left = state_.agreed->poll - state_.polls;
    if (now - patient_since_ < patience || left <= near || left <= state_.polls - patient_at_)
        return;
    lookahead_ = 1;
    call_off(state_.polls);
}

void Host::receive_answers() {
    if (!answers_) return;
    while (const auto message = answers_->next()) {
        net::Reader reader(message->text);
        const std::int64_t round = reader.i64();
        const bool accepted = reader.u8() != 0;
        const std::int64_t seen = reader.i64();
        if (!state_.agreed || state_.agreed->round != round || state_.agreed->decided) continue;
        if (!accepted) {
            call_off(seen);
        } else if (++accepted_ == state_.comm.size()) {
            state_.agreed->decided = true;
            // Half of what was too far ahead is saved the next time.
            const std::int64_t early = state_.agreed->poll - state_.polls - 1;
            lookahead_ = std::max<std::int64_t>(2, lookahead_ - early / 2);
        }
    }
}

void Host::call_off(std::int64_t seen) {
    constexpr std::int64_t longest_lookahead = std::int64_t{1} << 20;
    repeats_ = true;
    send_to_all(decision(state_.agreed->round, false));
    // Those who polled ahead must be met further on.
    furthest_ = std::max(furthest_, seen);
    lookahead_ = std::min(longest_lookahead, 2 * lookahead_);
    state_.agreed.reset();
    for (auto it = agreed_changes_.rbegin(); it != agreed_changes_.rend(); ++it)
        changes_.push_front(*it);
    for (auto it = agreed_sections_.rbegin(); it != agreed_sections_.rend(); ++it)
        sections_.push_front(*it), slots_.at(static_cast<std::size_t>(it->slot)).observer.reset();
    agreed_changes_.clear();
    agreed_sections_.clear();
}

void Host::settle() {
    if (!state_.agreed->decided) {
        call_off(state_.polls);
        return propose(true);
    }
    const AgreedPoll agreed = *std::exchange(state_.agreed, std::nullopt);
    send_to_all(decision(agreed.round, true));
    OwnParts own = carry_out(state_, agreed.batch);
    carried_out_at_ = platform::seconds();
    std::vector<AgreedSection> sections = agree_on(std::move(own));
    for (const PendingChange& asked : std::exchange(agreed_changes_, {})) {
        net::Writer body;
        body.i64(asked.change.number).i64(agreed.poll);
        asked.observer->send(net::MessageKind::parameter_changed, body);
        catalog_changed();
    }
    for (AgreedSection& asked : sections) {
        auto& call = slots_.at(static_cast<std::size_t>(asked.slot)).call;
        call = std::make_shared<comm::Call>(
            collect(std::move(asked), agreed.poll),
            "a section for an observer of the port '" + state_.name + "'");
    }
    advance(true);
}

void Host::send_to_all(const std::string& text) {
    for (int rank = 1; rank < state_.comm.size(); ++rank) state_.send(rank, State::from_root, text);
}

}  // namespace hocket::port

// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/relay.hpp"

#include "hocket/memory.hpp"
#include "transfer/counts.hpp"

namespace hocket::transfer {

Relay::Relay(const RelayPlan& work, const Route& route, Refusals& refusals, Stopwatch& watch)
    : work_(work), route_(route), refusals_(refusals), watch_(watch) {}

int Relay::tag_of(const PackedMessage& message) const {
    if (!message.within) return route_.data_tag;
    return message.peer_side == Side::source ? route_.source_tag : route_.destination_tag;
}

void Relay::start(const std::byte* source, std::byte* destination, bool refusing) {
    refusing_ = refusing;
    from_ = source;
    to_ = destination;
    if (!buffer_) buffer_ = allocate(work_.buffer);
    here_.assign(work_.receives.size(), false);
    first_away_ = sent_ = 0;
    for (std::size_t i = 0; i < work_.receives.size(); ++i) {
        const PackedMessage& message = work_.receives[i];
        in_.begin_group(i);
        route_.link->receive(in_, buffer_.get() + message.buffer_offset, message.bytes,
                             rank_of(route_, message.peer_side, message.peer), tag_of(message));
    }
    count_receives(work_.receives.size());
}

void Relay::arrived(std::size_t receive) {
    here_[receive] = true;
    while (first_away_ < here_.size() && here_[first_away_]) ++first_away_;
    const PackedMessage& message = work_.receives[receive];
    if (message.parcels.empty()) return;
    watch_.lap(&Profile::move);
    for (const OwnParcel& parcel : message.parcels) {
        const bool refused = buffer_.get()[parcel.flag_offset] != std::byte{0};
        if (refused) refusals_.from(rank_of(route_, Side::source, parcel.source));
        if (!refused && !refusing_) run_all(parcel.copies, buffer_.get(), to_);
    }
    watch_.lap(&Profile::pack);
}

bool Relay::send_what_is_ready() {
    bool any = false;
    for (; sent_ < work_.sends.size(); ++sent_) {
        const PackedMessage& message = work_.sends[sent_];
        if (message.needs > first_away_) break;
        watch_.lap(&Profile::move);
        for (const OwnParcel& parcel : message.parcels) {
            buffer_.get()[parcel.flag_offset] = std::byte{refusing_};
            if (!refusing_) run_all(parcel.copies, from_, buffer_.get());
        }
        run_all(message.forwarded, buffer_.get(), buffer_.get());
        watch_.lap(&Profile::pack);
        route_.link->send(out_, buffer_.get() + message.buffer_offset, message.bytes,
                          rank_of(route_, message.peer_side, message.peer), tag_of(message));
        count_sends(1);
        any = true;
    }
    return any;
}

bool Relay::poll() {
    bool more = true;
    while (more) {
        more = send_what_is_ready();
        if (in_.all_done()) continue;
        for (const auto receive : in_.newly_done()) {
            more = true;
            arrived(receive);
        }
    }
    if (!out_.all_done()) out_.newly_done();
    return sent_ == work_.sends.size() && in_.all_done() && out_.all_done();
}

}  // namespace hocket::transfer

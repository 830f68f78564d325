// SPDX-License-Identifier: BSD-3-Clause
#include "task/matcher.hpp"

#include <algorithm>

#include "base/pack.hpp"

namespace hocket::task {

std::string Envelope::packed() const {
    Packer out;
    out.number(source).number(tag).number(send).text(layout).text(dtype).number(itemsize);
    out.text(fault.kind).text(fault.message);
    return out.take();
}

Envelope Envelope::unpacked(const std::string& bytes) {
    Unpacker in(bytes);
    Envelope envelope;
    envelope.source = static_cast<int>(in.number());
    envelope.tag = static_cast<int>(in.number());
    envelope.send = in.number();
    envelope.layout = in.text();
    envelope.dtype = in.text();
    envelope.itemsize = in.number();
    envelope.fault.kind = in.text();
    envelope.fault.message = in.text();
    return envelope;
}

void Matcher::post(Wanted& wanted) {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(),
                                 [&](const Envelope& e) { return wanted.fits(e); });
    if (it == unexpected_.end()) {
        posted_.push_back(&wanted);
    } else if (wanted.take) {
        wanted.found = std::move(*it);
        unexpected_.erase(it);
    } else {
        wanted.found = *it;
    }
}

void Matcher::withdraw(Wanted& wanted) {
    posted_.remove(&wanted);
}

void Matcher::arrive(Envelope envelope) {
    for (auto it = posted_.begin(); it != posted_.end();) {
        Wanted& wanted = **it;
        if (!wanted.fits(envelope)) {
            ++it;
            continue;
        }
        it = posted_.erase(it);
        wanted.found = envelope;
        if (wanted.take) return;
    }
    unexpected_.push_back(std::move(envelope));
}

void Matcher::pump() {
    for (;;) {
        if (!incoming_) {
            const auto arrival = link_->probe(comm::any_source, tag_);
            if (!arrival) return;
            incoming_ = std::make_unique<Incoming>();
            incoming_->bytes.resize(static_cast<std::size_t>(arrival->bytes));
            link_->receive(incoming_->requests, incoming_->bytes.data(), arrival->bytes,
                           arrival->source, tag_);
        }
        if (!incoming_->requests.holds()) return;
        Envelope envelope = Envelope::unpacked(incoming_->bytes);
        incoming_.reset();
        arrive(std::move(envelope));
    }
}

}  // namespace hocket::task

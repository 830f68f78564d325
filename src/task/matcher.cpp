// SPDX-License-Identifier: BSD-3-Clause
#include "task/matcher.hpp"

#include <algorithm>
#include <utility>

#include "layout/form.hpp"
#include "task/open_receives.hpp"

namespace hocket::task {

ArrayDescriptor ArrayDescriptor::of(const Array& array) {
    return {array.layout(), array.dtype().name, array.dtype().size};
}

const Layout& ArrayDescriptor::value() const {
    if (!layout)
        throw Error(
            "a message of hocket's own lacks a layout; do all processes run the same version of "
            "hocket?");
    return *layout;
}

std::string ArrayDescriptor::text() const {
    return dtype + " " + (layout ? layout::label(layout->form()) : "");
}

std::vector<ArrayDescriptor> descriptors_of(std::span<const Array> arrays) {
    std::vector<ArrayDescriptor> descriptors;
    descriptors.reserve(arrays.size());
    for (const auto& array : arrays) descriptors.push_back(ArrayDescriptor::of(array));
    return descriptors;
}

void pack(Packer& out, const std::vector<ArrayDescriptor>& descriptors, KnownLayouts& known) {
    out.number(static_cast<std::int64_t>(descriptors.size()));
    for (const ArrayDescriptor& form : descriptors) {
        out.number(form.layout ? 1 : 0).text(form.dtype).number(form.itemsize);
        if (form.layout) known.pack(out, *form.layout);
    }
}

std::vector<ArrayDescriptor> unpack_descriptors(Unpacker& in, KnownLayouts& known) {
    std::vector<ArrayDescriptor> descriptors;
    KnownLayouts changed;
    std::int64_t left = in.number();
    if (left == 1)
        descriptors.reserve(1);  // the count may be wrong, so do not reserve more before
                                 // it is read
    if (left > 1) changed = known;
    KnownLayouts& now = left > 1 ? changed : known;
    for (; left > 0; --left) {
        ArrayDescriptor& form = descriptors.emplace_back();
        const bool has_layout = in.number() != 0;
        form.dtype = in.text();
        form.itemsize = in.number();
        if (has_layout) form.layout = now.unpack(in);
    }
    if (&now == &changed) known = std::move(changed);
    return descriptors;
}

void keep(KnownLayouts& known, const std::vector<ArrayDescriptor>& descriptors) {
    for (const ArrayDescriptor& form : descriptors)
        if (form.layout) known.keep(*form.layout);
}

void Envelope::pack(Packer& out, KnownLayouts& known) const {
    out.number(source).number(tag).number(send).text(stream);
    fault.pack(out);
    out.number(persistent_id).number(once ? 1 : 0).number(departure ? 1 : 0);
    requested.pack(out);
    task::pack(out, offer);
    task::pack(out, descriptors, known);
}

std::string Envelope::packed(KnownLayouts& known) const {
    Packer out(typical_bytes + (elements ? elements->size() : 0));
    pack(out, known);
    if (elements) out.text(*elements);
    return out.take();
}

Envelope Envelope::unpacked(Unpacker& in, KnownLayouts& known) {
    Envelope envelope;
    envelope.unpack_beginning(in);
    envelope.unpack_rest(in, known);
    return envelope;
}

void Envelope::unpack_beginning(Unpacker& in) {
    source = static_cast<int>(in.number());
    tag = static_cast<int>(in.number());
    send = in.number();
    stream = in.text();
}

void Envelope::unpack_rest(Unpacker& in, KnownLayouts& known) {
    fault = comm::Fault::unpacked(in);
    persistent_id = in.number();
    once = in.number() != 0;
    departure = in.number() != 0;
    requested = RequestedOptions::unpacked(in);
    offer = unpack_texts(in);
    descriptors = unpack_descriptors(in, known);
}

Envelope Envelope::unpacked(const std::string& bytes, std::vector<KnownLayouts>& known) {
    const std::int64_t source = Unpacker(bytes).number();
    if (source < 0 || source >= static_cast<std::int64_t>(known.size()))
        throw Error("a message comes from task number " + std::to_string(source) +
                    ", but there are " + std::to_string(known.size()) +
                    " tasks; do all processes run the same version of hocket?");
    Unpacker in(bytes);
    Envelope envelope;
    envelope.unpack_beginning(in);
    try {
        envelope.unpack_rest(in, known[static_cast<std::size_t>(source)]);
        if (!in.empty()) envelope.elements = std::make_shared<const std::string>(in.text());
    } catch (const std::exception&) {
        envelope.fault = comm::Fault::current();
        envelope.unreadable = true;
        envelope.departure = false;
        envelope.offer.clear();
    }
    return envelope;
}

void Matcher::open(comm::Link& link, int envelope_tag, std::vector<int> lowest) {
    texts_.emplace(link, comm::any_source, envelope_tag);
    known_.resize(lowest.size());
    last_.resize(lowest.size(), -1);
    for (std::size_t task = 0; task < lowest.size(); ++task)
        receives_.push_back(std::make_shared<OpenReceives>());
    lowest_ = std::move(lowest);
}

bool Matcher::may_announce(const PostedReceive& wanted) const {
    std::size_t announced = 0;
    for (const PostedReceive* const each : posted_) {
        if (each == &wanted || !each->take || each->stream != wanted.stream ||
            (each->source >= 0 && each->source != wanted.source))
            continue;
        if (!each->announced) return false;
        ++announced;
    }
    return !wanted.found && announced < OpenReceives::most;
}

void Matcher::post(PostedReceive& wanted) {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(),
                                 [&](const Envelope& e) { return wanted.fits(e); });
    if (it == unexpected_.end()) {
        posted_.push_back(&wanted);
    } else if (wanted.take && !it->departure) {
        wanted.found = std::move(*it);
        unexpected_.erase(it);
    } else {
        wanted.found = *it;
    }
}

void Matcher::withdraw(PostedReceive& wanted) {
    posted_.remove(&wanted);
}

bool Matcher::drop(int source, const std::string& stream, std::int64_t send) {
    return std::erase_if(unexpected_, [&](const Envelope& e) {
               return !e.departure && e.source == source && e.stream == stream &&
                      (send < 0 || e.send == send);
           }) > 0;
}

void Matcher::arrive(Envelope envelope) {
    if (envelope.stream == open_receive) {
        receives_of(envelope.source).add(std::move(envelope));
        return;
    }
    if (!envelope.departure) last_[static_cast<std::size_t>(envelope.source)] = envelope.send;
    for (auto it = posted_.begin(); it != posted_.end();) {
        PostedReceive& wanted = **it;
        if (!wanted.fits(envelope)) {
            ++it;
            continue;
        }
        it = posted_.erase(it);
        if (wanted.take && !envelope.departure) {
            wanted.found = std::move(envelope);
            return;
        }
        wanted.found = envelope;
    }
    unexpected_.push_back(std::move(envelope));
}

void Matcher::arrive(int from, const std::string& bytes) {
    const std::int64_t source = Unpacker(bytes).number();
    const bool exists = source >= 0 && source < static_cast<std::int64_t>(lowest_.size());
    if (exists && lowest_[static_cast<std::size_t>(source)] != from)
        throw Error("process " + std::to_string(from) + " sent a message as task number " +
                    std::to_string(source) +
                    ", whose lowest process is another; do all processes run the same version of "
                    "hocket?");
    arrive(Envelope::unpacked(bytes, known_));
}

const Envelope* Matcher::departure_of(int source) const {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Envelope& e) {
        return e.departure && e.source == source;
    });
    return it == unexpected_.end() ? nullptr : &*it;
}

void Matcher::pump() {
    while (const auto message = texts_->next()) arrive(message->from, message->text);
}

}  // namespace hocket::task

// SPDX-License-Identifier: BSD-3-Clause
#include "task/matcher.hpp"

#include <algorithm>

#include "transfer/recent.hpp"

namespace hocket::task {

Form Form::of(const Array& array) {
    return {array.layout().text(), array.dtype().name, array.dtype().size, array.layout()};
}

const Layout& Form::value() const {
    if (!known) known = transfer::parsed(layout);
    return *known;
}

std::vector<Form> forms_of(std::span<const Array> arrays) {
    std::vector<Form> forms;
    forms.reserve(arrays.size());
    for (const auto& array : arrays) forms.push_back(Form::of(array));
    return forms;
}

void pack(Packer& out, const std::vector<Form>& forms) {
    out.number(static_cast<std::int64_t>(forms.size()));
    for (const Form& form : forms) out.text(form.layout).text(form.dtype).number(form.itemsize);
}

std::vector<Form> unpack_forms(Unpacker& in) {
    std::vector<Form> forms;
    std::int64_t left = in.number();
    if (left == 1) forms.reserve(1);  // what is said may be wrong: no more before it is read
    for (; left > 0; --left) {
        Form& form = forms.emplace_back();
        form.layout = in.text();
        form.dtype = in.text();
        form.itemsize = in.number();
    }
    return forms;
}

void Envelope::pack(Packer& out) const {
    out.number(source).number(tag).number(send).text(stream);
    out.text(fault.kind).text(fault.message).number(kept).number(once ? 1 : 0);
    out.number(parting ? 1 : 0);
    wish.pack(out);
    task::pack(out, forms);
}

std::string Envelope::packed() const {
    Packer out(usual_text);
    pack(out);
    return out.take();
}

Envelope Envelope::unpacked(Unpacker& in) {
    Envelope envelope;
    envelope.source = static_cast<int>(in.number());
    envelope.tag = static_cast<int>(in.number());
    envelope.send = in.number();
    envelope.stream = in.text();
    envelope.fault.kind = in.text();
    envelope.fault.message = in.text();
    envelope.kept = in.number();
    envelope.once = in.number() != 0;
    envelope.parting = in.number() != 0;
    envelope.wish = Wish::unpacked(in);
    envelope.forms = unpack_forms(in);
    return envelope;
}

Envelope Envelope::unpacked(const std::string& bytes) {
    Unpacker in(bytes);
    return unpacked(in);
}

void Matcher::post(Wanted& wanted) {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(),
                                 [&](const Envelope& e) { return wanted.fits(e); });
    if (it == unexpected_.end()) {
        posted_.push_back(&wanted);
    } else if (wanted.take && !it->parting) {
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
        if (wanted.take && !envelope.parting) {
            wanted.found = std::move(envelope);
            return;
        }
        wanted.found = envelope;
    }
    unexpected_.push_back(std::move(envelope));
}

const Envelope* Matcher::parting_of(int source) const {
    const auto it = std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Envelope& e) {
        return e.parting && e.source == source;
    });
    return it == unexpected_.end() ? nullptr : &*it;
}

void Matcher::pump() {
    for (;;) {
        if (!incoming_) {
            const auto arrival = link_->probe(comm::any_source, tag_);
            if (!arrival) return;
            if (arrival->text) {
                arrive(Envelope::unpacked(*arrival->text));
                continue;
            }
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

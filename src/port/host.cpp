// SPDX-License-Identifier: BSD-3-Clause
#include "port/host.hpp"

#include <algorithm>

#include "base/byte_order.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"
#include "layout/form.hpp"
#include "layout/partition.hpp"
#include "net/boxes.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t most_asked = 64;  // by one observer
constexpr double longest_end = 0.2;     // seconds for an observer to take what is left

// Whether the layout's text would be long: its lists go to the observer as numbers, part by part.
bool has_long_lists(const Layout& section) {
    constexpr std::int64_t most_runs = 4096;
    const layout::Form& form = section.form();
    std::int64_t runs = 0;
    for (const layout::Format& format : form.base.formats)
        if (format.partition) runs += format.partition->pieces();
    if (form.boxes) runs += section.size();
    for (std::int64_t process = 0; form.indexed() && process < section.size(); ++process)
        runs += static_cast<std::int64_t>(form.segments->of(process).size());
    return runs > most_runs;
}

// The number of indices of each list that `global_indices` gives.
Shape list_lengths(const Layout& section, std::int64_t process) {
    return section.is_indexed() ? Shape{section.local_elements(process)}
                                : section.local_shape(process);
}

}  // namespace

void Host::advance(bool polling) {
    if (!answers_ && state_.link && state_.comm.size() > 1)
        answers_.emplace(*state_.link, comm::any_source, State::answers);
    admit_clients();
    for (const ObserverPointer& observer : observers_) receive_requests(observer);
    std::erase_if(sections_, [](const auto& asked) { return !asked.observer->present(); });
    announce();
    receive_answers();
    call_off_what_lies_too_far();
    propose(polling);
    for (Slot& slot : slots_)
        if (slot.call && slot.call->poll()) slot = {};
    flush(polling);
    observers_.remove_if([](const ObserverPointer& observer) { return !observer->present(); });
}

bool Host::serves() const {
    // A poll does nothing for an observer that has to take bytes first.
    return state_.agreed ||
           std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) {
                           return slot.call && slot.observer->queued() < most_queued;
                       }) ||
           std::any_of(observers_.begin(), observers_.end(), [](const ObserverPointer& observer) {
               return !observer->drained() && !observer->full();
           });
}

void Host::receive_requests(const ObserverPointer& observer) {
    if (!observer->present()) return;
    try {
        observer->receive([&](const net::Frame& frame) {
            net::Reader reader(frame.body);
            switch (static_cast<net::MessageKind>(frame.kind)) {
                case net::MessageKind::section_request: {
                    net::SectionRequest request = net::read_section_request(reader);
                    reader.end();
                    enqueue(observer, std::move(request));
                    break;
                }
                case net::MessageKind::parameter_change: {
                    net::ParameterChange change = net::read_parameter_change(reader);
                    reader.end();
                    enqueue(observer, std::move(change));
                    break;
                }
                case net::MessageKind::taken:
                    reader.end();
                    lent_memories_.put_back(observer->taken(), platform::seconds());
                    break;
                default:
                    throw Error("a message has kind " + std::to_string(frame.kind));
            }
        });
    } catch (const net::Disconnected&) {
        observer->leave();
    } catch (const Error& error) {
        observer->refuse(error.what());
    }
}

void Host::enqueue(const ObserverPointer& observer, net::SectionRequest request) {
    const auto others =
        std::count_if(sections_.begin(), sections_.end(),
                      [&](const PendingSection& asked) { return asked.observer == observer; });
    if (static_cast<std::size_t>(others) >= most_asked)
        return observer->fail(request.number,
                              "too many sections are asked for at once; wait for some");
    try {
        const Array* const array = state_.array(request.name);
        if (array == nullptr)
            throw Error("the program has published no array '" + request.name + "'");
        if (request.slices.size() != array->layout().dimensions())
            throw Error("'" + request.name + "' has " +
                        std::to_string(array->layout().dimensions()) + " dimensions, and " +
                        std::to_string(request.slices.size()) + " slices were asked for");
        // Throws for slices that an array of this shape refuses.
        const Shape& shape = array->layout().shape();
        static_cast<void>(
            Layout(shape, std::vector<Format>(shape.size(), Format("*"))).section(request.slices));
    } catch (const Error& error) {
        return observer->fail(request.number, error.what());
    }
    sections_.push_back({observer, std::move(request), 0});
}

void Host::enqueue(const ObserverPointer& observer, net::ParameterChange change) {
    if (observer->right() < net::Right::steer)
        return observer->fail(
            change.number, "this key lets you look on, not steer; ask the owner for another one");
    const auto now = state_.parameter(change.name);
    std::vector<std::string> names;
    for (const auto& [name, value] : state_.parameters) names.push_back(name);
    if (!now)
        return observer->fail(change.number,
                              "the program has no parameter '" + change.name + "'" +
                                  text::did_you_mean(change.name, names) + "; it has " +
                                  (names.empty() ? "none" : text::quoted_list(names)));
    if (const auto* whole = std::get_if<std::int64_t>(&change.value)) {
        if (std::holds_alternative<double>(*now)) change.value = static_cast<double>(*whole);
        if (std::holds_alternative<bool>(*now) && (*whole == 0 || *whole == 1))
            change.value = *whole == 1;
    }
    if (change.value.index() != now->index()) {
        const std::vector<std::string> types{"a flag", "an integer", "a real number", "a text"};
        return observer->fail(change.number, "the parameter '" + change.name + "' is " +
                                                 types[now->index()] + ", and " +
                                                 types[change.value.index()] + " was given");
    }
    const auto others =
        std::count_if(changes_.begin(), changes_.end(),
                      [&](const PendingChange& asked) { return asked.observer == observer; });
    if (static_cast<std::size_t>(others) >= most_asked ||
        changes_.size() >= most_asked * most_observers)
        return observer->fail(change.number, "too many values are waiting for the next poll");
    changes_.push_back({observer, std::move(change)});
}

// To each observer that has not the last list, once it has taken what came before.
void Host::announce() {
    constexpr std::size_t most_before = std::size_t{64} << 10;
    const auto waits = [&](const ObserverPointer& observer) {
        return observer->catalog < catalogs_ && observer->queued() < most_before;
    };
    if (std::none_of(observers_.begin(), observers_.end(), waits)) return;
    net::Catalog catalog;
    catalog.poll = state_.polls;
    for (const auto& [name, array] : state_.arrays) catalog.arrays.push_back(entry_of(name, array));
    for (const auto& [name, value] : state_.parameters)
        catalog.parameters.emplace_back(name, *value);
    net::Writer body;
    net::write(body, catalog);
    for (const ObserverPointer& observer : observers_) {
        if (!waits(observer)) continue;
        observer->send(net::MessageKind::catalog, body);
        observer->catalog = catalogs_;
    }
}

bool Host::waits_for_slot(const PendingSection& asked) const {
    const auto taken = [&](const Slot& slot) { return slot.observer == asked.observer; };
    const auto free = [](const Slot& slot) { return slot.observer == nullptr; };
    return std::any_of(slots_.begin(), slots_.end(), taken) ||
           std::none_of(slots_.begin(), slots_.end(), free);
}

bool Host::may_begin_section() const {
    return std::any_of(sections_.begin(), sections_.end(),
                       [&](const PendingSection& asked) { return !waits_for_slot(asked); });
}

void Host::begin_sections() {
    for (PendingSection& asked : std::exchange(sections_, {})) {
        if (waits_for_slot(asked)) {
            sections_.push_back(std::move(asked));
            continue;
        }
        const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                       [](const Slot& one) { return one.observer == nullptr; });
        slot->observer = asked.observer;
        asked.slot = static_cast<int>(slot - slots_.begin());
        agreed_sections_.push_back(std::move(asked));
    }
}

std::vector<Host::AgreedSection> Host::agree_on(OwnParts own) {
    std::vector<AgreedSection> sections;
    std::size_t k = 0;
    for (const PendingSection& asked : std::exchange(agreed_sections_, {})) {
        Part& part = own[k++];
        const net::SectionRequest& request = asked.request;
        const Array* const array = state_.array(request.name);
        try {
            if (array != nullptr) {
                sections.push_back({asked.observer, request.number,
                                    state_.section(*array, request.slices), array->dtype().size,
                                    std::move(part), asked.slot,
                                    request.maps && asked.observer->may_map()});
                continue;
            }
        } catch (const Error& error) {
            asked.observer->fail(request.number, error.what());
        }
        slots_.at(static_cast<std::size_t>(asked.slot)) = {};
    }
    return sections;
}

bool Host::collecting() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](const Slot& slot) { return slot.call != nullptr; });
}

// The lists of one part, which its elements follow.
void Host::send_lists(ObserverConnection& observer, const AgreedSection& asked,
                      std::int64_t process) {
    const auto lists = std::make_shared<net::IndexLists>(asked.layout.global_indices(process));
    for (std::size_t d = 0; d < lists->size(); ++d) {
        std::vector<std::int64_t>& list = (*lists)[d];
        for (std::int64_t& index : list) index = base::little_endian(index);
        const auto all = std::as_bytes(std::span(list));
        for (std::size_t first = 0; first < all.size(); first += longest_piece) {
            net::Writer body;
            body.i64(asked.number).i64(process).u8(static_cast<std::uint8_t>(d));
            observer.send(net::MessageKind::lists, body, lists,
                          all.subspan(first, std::min(longest_piece, all.size() - first)));
        }
    }
}

// One part after the other: process 0 holds a few parts at most, as the others keep theirs until it
// receives them.
comm::Protocol<> Host::collect(AgreedSection asked, std::int64_t poll) {
    ObserverConnection& observer = *asked.observer;
    net::SectionHeader header;
    header.number = asked.number;
    header.poll = poll;
    const bool listed = has_long_lists(asked.layout);
    if (!listed) header.layout = asked.layout.text();
    for (std::int64_t process = 0; process < asked.layout.size(); ++process)
        if (sends_part(asked.layout, process))
            header.parts.push_back({process, asked.layout.local_elements(process) * asked.itemsize,
                                    listed ? list_lengths(asked.layout, process) : Shape{}});
    net::Writer head;
    net::write(head, header);
    observer.send(net::MessageKind::section, head);
    comm::When room([&] { return !observer.present() || observer.queued() < most_queued; });
    for (const auto& [process, bytes, counts] : header.parts) {
        co_await comm::until(room);
        if (listed && observer.present()) {
            send_lists(observer, asked, process);
            co_await comm::until(room);
        }
        const auto size = static_cast<std::size_t>(bytes);
        Part part = process == 0 ? std::move(asked.own)
                    : asked.maps ? lent_memories_.part(size)
                                 : private_part(size);
        if (process != 0) {
            comm::Requests requests;
            state_.link->receive(requests, part.data.get(), bytes, static_cast<int>(process),
                                 State::elements + asked.slot);
            co_await comm::until(requests);
        }
        observer.send(asked.number, process, part);
    }
}

bool Host::finish() {
    finishing_ = true;
    if (state_.agreed) {
        send_to_all(decision(state_.agreed->round, false));
        state_.agreed.reset();
    }
    return !collecting();
}

void Host::end(const std::string& why) {
    net::Writer body;
    body.text(why);
    for (const ObserverPointer& observer : observers_) {
        observer->send(net::MessageKind::ended, body);
        const double until = platform::seconds() + longest_end;
        for (;;) {
            observer->flush(until);
            if (observer->drained() || !observer->present() || platform::seconds() > until) break;
            platform::sleep(0.001);
        }
    }
    observers_.clear();
}

}  // namespace hocket::port

// SPDX-License-Identifier: BSD-3-Clause
#include "comm/link.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>

#include "base/platform.hpp"
#include "base/wakeup.hpp"
#include "comm/engine.hpp"
#include "comm/fork.hpp"
#include "comm/interrupts.hpp"
#include "comm/mpi/handle.hpp"
#include "comm/polled.hpp"
#include "comm/vendor.hpp"
#include "hocket/comm.hpp"
#include "hocket/error.hpp"
#include "shm/peer_registry.hpp"

namespace hocket::comm {
namespace {

// The size of the parts of a longer message: a power of two well below 2^31, so that every MPI can
// count it.
constexpr std::int64_t longest_message = std::int64_t{1} << 30;

constexpr double between_looks = 0.05, after_a_loss = 0.3;  // seconds; at other jobs

std::atomic<std::int64_t> texts_sent = 0, texts_received = 0, bytes_sent = 0;

}  // namespace

void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (const std::string lost = vendor::lost_processes(); !lost.empty())
        throw PeerLostError(lost + " has ended, and what this process waits for will not be (" +
                            call + ": " + text +
                            "); see what that rank printed last, and start the program again");
    throw Error(std::string(call) + " failed: " + text);
}

Link::Link(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {
    check(MPI_Comm_set_errhandler(handle_->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(handle_->comm, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(handle_->comm, &size_), "MPI_Comm_size");
    own_size_ = size_;
    highest_tag_ = vendor::highest_tag() - own_tags;
    if constexpr (platform::simulated) {
        wakeup::set_rank(vendor::world_rank());
        handle_->world_ranks = vendor::world_ranks(handle_->comm);
    }
}

Link::Link()
    : handle_(std::make_shared<Handle>()),
      size_(1),
      highest_tag_(std::numeric_limits<int>::max() - own_tags),  // its messages are none of MPI's
      own_size_(1) {
    keep_from_forks();
    add_endpoints(0, {nullptr});
}

// MPI reaches this process itself, too.
void Link::add_endpoints(int first, std::vector<std::shared_ptr<Endpoint>> endpoints) {
    rank_ += first - first_;
    first_ = first;
    nodes_.reset();
    processes_.reset();
    node_inbox_.reset();
    size_ = static_cast<int>(endpoints.size());
    endpoints_ = std::move(endpoints);
    if (handle_->comm == MPI_COMM_NULL)
        endpoints_[static_cast<std::size_t>(rank_)] = Endpoint::loopback();
}

// Requests may keep the handle for longer, on any thread.
Link::~Link() {
    handle_->texts.reset();
}

std::int64_t Link::unreceived() const {
    return handle_->unreceived;
}

bool Link::given_up() const {
    return handle_->given_up;
}

void Link::free() {
    if (handle_->comm == MPI_COMM_NULL) return;
    handle_->texts.reset();
    // MPI defines this as collective, but both MPIs return at once.
    check(MPI_Comm_free(&handle_->comm), "MPI_Comm_free");
}

void Link::send(Requests& requests, const void* data, std::int64_t bytes, int to, int tag) {
    if (Endpoint* const other = endpoint(to))
        return requests.add(endpoints_[static_cast<std::size_t>(to)],
                            other->send(data, data == nullptr ? 0 : bytes, tag));
    const auto* from = static_cast<const char*>(data);
    std::int64_t done = 0;
    do {
        const std::int64_t now = std::min(bytes - done, longest_message);
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(from == nullptr ? nullptr : from + done,
                        from == nullptr ? 0 : static_cast<int>(now), MPI_BYTE, to - first_, tag,
                        handle_->comm, &request),
              "MPI_Isend");
        requests.batch().add(request, process(to), handle_);
        requests.added();
        ++handle_->unreceived;
        done += now;
        if constexpr (platform::simulated)
            wakeup::sent(handle_->world_ranks[static_cast<std::size_t>(to)], tag, now);
    } while (done < bytes);
}

void Link::receive(Requests& requests, void* data, std::int64_t bytes, int from, int tag) {
    if (Endpoint* const other = endpoint(from))
        return requests.add(endpoints_[static_cast<std::size_t>(from)],
                            other->receive(data, bytes, tag));
    auto* to = static_cast<char*>(data);
    std::int64_t done = 0;
    do {
        const std::int64_t now = std::min(bytes - done, longest_message);
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Irecv(to + done, static_cast<int>(now), MPI_BYTE, from - first_, tag,
                        handle_->comm, &request),
              "MPI_Irecv");
        requests.batch().add(request, process(from), handle_);
        requests.added();
        --handle_->unreceived;
        done += now;
        if constexpr (platform::simulated)
            wakeup::receiving(handle_->world_ranks[static_cast<std::size_t>(from)], tag);
    } while (done < bytes);
}

std::uint64_t Link::message_number(Purpose purpose, int tag) const {
    const auto word = [](int number) { return static_cast<std::uint64_t>(number); };
    return word(number_) << 34U | word(static_cast<int>(purpose)) << 32U | word(tag);
}

std::uint64_t Link::send_in_node(int to, Purpose purpose, int tag, const std::string& text) {
    const std::uint64_t sent = node_inbox_->inbox->send(
        node_inbox_->inbox_index[static_cast<std::size_t>(to)], message_number(purpose, tag), text);
    if (node_inbox_->inbox->unsent() && !node_inbox_->pushed) {
        node_inbox_->pushed = true;
        // Sends texts for which a ring was full, whatever becomes of their calls.
        const auto flush = [queues = node_inbox_] {
            queues->inbox->flush();
            queues->pushed = queues->inbox->unsent();
            return !queues->pushed;
        };
        Engine::instance().post_background(std::make_shared<FunctionOperation>(
            flush, [] { return std::string("texts within the node"); }));
    }
    return sent;
}

bool Link::delivered_in_node(int to, std::uint64_t sent) {
    return node_inbox_->inbox->delivered(node_inbox_->inbox_index[static_cast<std::size_t>(to)],
                                         sent);
}

std::optional<std::string> Link::receive_in_node(int from, Purpose purpose, int tag) {
    auto text = node_inbox_->inbox->receive(
        node_inbox_->inbox_index[static_cast<std::size_t>(from)], message_number(purpose, tag));
    if (text && endpoint(from) != nullptr) endpoint(from)->note_arrival();
    return text;
}

std::int64_t Link::process_id(int rank) const {
    return shm::id_of_process(process(rank));
}

void Link::need_any(const std::vector<int>& ranks) const {
    const auto lost = [&](int rank) {
        Endpoint* const other = endpoint(rank);
        return other != nullptr && other->lost();
    };
    if (has_endpoints() && std::all_of(ranks.begin(), ranks.end(), lost))
        for (const int rank : ranks) endpoint(rank)->require_present();
    else if (has_endpoints())
        require_other_jobs();
    if (AwaitedPeers::collecting() == nullptr || ranks.empty()) return;
    std::vector<std::int64_t> processes;
    for (const int rank : ranks) processes.push_back(process(rank));
    AwaitedPeers::collecting()->add_any(std::move(processes));
}

// Processes of this job find a loss at different times. The first one may leave its call before
// another begins the next call, and then waits for the first.
void Link::require_other_jobs() const {
    const double now = coarse_seconds();
    if (now < next_look_) return;
    next_look_ = now + between_looks;
    for (const auto& other : endpoints_) {
        const auto why = other != nullptr && other->opened() ? other->lost() : std::nullopt;
        if (!why) continue;
        if (lost_since_ == 0) lost_since_ = now;
        if (now - lost_since_ >= after_a_loss)
            throw JobLostError(other->name() + " is lost: " + *why +
                               "; this process waits for another one of its job, which may have "
                               "found the loss and left the call");
    }
}

// From any source: a link within one node has no other texts.
std::optional<ProbeResult> Link::probe_in_node(int from, int tag) {
    std::optional<ProbeResult> arrival;
    if (from != any_source) {
        if (auto text = receive_in_node(from, Purpose::text, tag))
            arrival.emplace(from, 0, std::move(text));
    } else if (auto found = node_inbox_->inbox->receive_any(message_number(Purpose::text, tag))) {
        arrival.emplace(node_inbox_->ranks[found->first], 0, std::move(found->second));
    }
    if (arrival) {
        arrival->bytes = static_cast<std::int64_t>(arrival->text->size());
        ++texts_received;
    }
    return arrival;
}

std::optional<ProbeResult> Link::probe(int from, int tag) {
    if (goes_in_node(from == any_source ? rank_ : from, tag)) {
        auto arrival = probe_in_node(from, tag);
        if (!arrival && from != any_source) need(from);
        const bool all_in_node = node_inbox_->ranks.size() == static_cast<std::size_t>(size_);
        if (arrival || from != any_source || all_in_node) return arrival;
    }
    if (has_endpoints()) {
        auto arrival = probe_endpoints(from, tag);
        const bool elsewhere =
            from == any_source ? handle_->comm == MPI_COMM_NULL : endpoint(from) != nullptr;
        if (!arrival && from != any_source && elsewhere) need(from);
        if (arrival || elsewhere) return arrival;
    }
    if (handle_->texts && tag != closing_tag()) {
        auto arrival = handle_->texts->next(from == any_source ? from : from - first_, tag);
        if (!arrival && from != any_source) need(from);
        if (!arrival) return arrival;
        arrival->source += first_;
        ++texts_received;
        return arrival;
    }
    int come = 0;
    MPI_Status status;
    check(MPI_Iprobe(from == any_source ? MPI_ANY_SOURCE : from - first_, tag, handle_->comm, &come,
                     &status),
          "MPI_Iprobe");
    if (come == 0) {
        if (from != any_source) need(from);
        return std::nullopt;
    }
    if (tag != closing_tag()) ++texts_received;
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    return ProbeResult(status.MPI_SOURCE + first_, bytes);
}

std::optional<ProbeResult> Link::probe_endpoints(int from, int tag) {
    for (int rank = from == any_source ? 0 : from; rank < (from == any_source ? size_ : from + 1);
         ++rank) {
        Endpoint* const other = endpoint(rank);
        const auto bytes = other != nullptr ? other->probe(tag) : std::nullopt;
        if (!bytes) continue;
        if (tag != closing_tag()) ++texts_received;
        return ProbeResult(rank, *bytes);
    }
    return std::nullopt;
}

void Link::send_text(Requests& requests, const std::string& text, int to, int tag) {
    if (tag != closing_tag()) {
        ++texts_sent;
        bytes_sent += static_cast<std::int64_t>(text.size());
    }
    if (goes_in_node(to, tag)) {
        const std::uint64_t sent = send_in_node(to, Purpose::text, tag, text);
        if (!delivered_in_node(to, sent))
            requests.add_in_node([this, to, sent] { return delivered_in_node(to, sent); },
                                 process(to));
        return;
    }
    const auto bytes = static_cast<std::int64_t>(text.size());
    const bool queued = handle_->texts && endpoint(to) == nullptr && tag != closing_tag();
    if (queued) {
        std::deque<std::string>& messages = requests.batch().texts;
        if (requests.all_done()) messages.clear();
        const std::string& message = messages.emplace_back(TextQueue::message(text, tag));
        send(requests, message.data(), static_cast<std::int64_t>(message.size()), to,
             handle_->texts->mpi_tag());
    }
    if (!queued || TextQueue::is_long(bytes)) send(requests, text.data(), bytes, to, tag);
}

Protocol<> send_text(Link& link, std::string text, int to, int tag) {
    Requests requests;
    link.send_text(requests, text, to, tag);
    co_await until(requests);
}

Protocol<TextMessage> receive_text(Link& link, int from, int tag) {
    std::optional<ProbeResult> arrival;
    When come([&] { return (arrival = link.probe(from, tag)).has_value(); });
    co_await until(come);
    TextMessage message = co_await receive_text(link, std::move(*arrival), tag);
    co_return message;
}

Protocol<std::optional<TextMessage>> receive_text(Link& link, int from, int tag,
                                                  const std::function<bool()>& ended) {
    std::optional<ProbeResult> arrival;
    When over([&] {
        arrival = link.probe(from, tag);
        if (arrival || !ended()) return arrival.has_value();
        arrival = link.probe(from, tag);  // one that came before the end
        return true;
    });
    co_await until(over);
    std::optional<TextMessage> message;
    if (arrival) message = co_await receive_text(link, std::move(*arrival), tag);
    co_return message;
}

Protocol<TextMessage> receive_text(Link& link, ProbeResult arrival, int tag) {
    TextMessage message{arrival.source, std::string()};
    if (arrival.text) {
        message.text = std::move(*arrival.text);
        co_return message;
    }
    message.text.resize(static_cast<std::size_t>(arrival.bytes));
    Requests requests;
    link.receive(requests, message.text.data(), arrival.bytes, arrival.source, tag);
    co_await until(requests);
    co_return message;
}

}  // namespace hocket::comm

hocket::DescriptorCounts hocket::descriptor_counts() {
    using namespace hocket::comm;
    return {texts_sent, texts_received, bytes_sent};
}

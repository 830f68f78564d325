// SPDX-License-Identifier: BSD-3-Clause
#include "comm/mpi/text_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/platform.hpp"
#include "comm/engine.hpp"
#include "comm/fork.hpp"
#include "comm/mpi/handle.hpp"
#include "comm/vendor.hpp"

namespace hocket::comm {
namespace {

// Within one poll of the engine, a second test would find no more than the first. But a caller
// outside of such polls must find texts, too.
constexpr int most_skipped = 8;

// Never destroyed, because queues may outlive static destructors.
std::vector<TextQueue*>& queues() {
    static auto* const all = new std::vector<TextQueue*>;
    return *all;
}

}  // namespace

TextQueue::TextQueue(MPI_Comm comm, int mpi_tag, std::int64_t& unreceived)
    : comm_(comm),
      mpi_tag_(mpi_tag),
      unreceived_(unreceived),
      buffer_(sizeof(Header) + static_cast<std::size_t>(longest)) {
    open();
    queues().push_back(this);
}

TextQueue::~TextQueue() {
    std::erase(queues(), this);
    if (!forked() && running()) close();
}

void TextQueue::open() {
    check(MPI_Irecv(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, MPI_ANY_SOURCE,
                    mpi_tag_, comm_, &request_),
          "MPI_Irecv");
}

void TextQueue::close() {
    if (request_ == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request_);
    int ended = 0;
    MPI_Test(&request_, &ended, MPI_STATUS_IGNORE);
    if (ended != 0) return;
    // It has matched a message that MPI may still write.
    static auto* const written = new std::vector<std::vector<char>>;
    written->push_back(std::move(buffer_));
    MPI_Request_free(&request_);
}

void TextQueue::close_all() {
    for (TextQueue* const each : queues()) each->close();
}

std::string TextQueue::message(const std::string& text, int tag) {
    const auto bytes = static_cast<std::int64_t>(text.size());
    const Header header{bytes, tag};
    std::string whole;
    whole.reserve(sizeof header + (is_long(bytes) ? 0 : text.size()));
    whole.append(reinterpret_cast<const char*>(&header), sizeof header);
    if (!is_long(bytes)) whole.append(text);
    return whole;
}

bool TextQueue::receive() {
    const std::uint64_t polls = Engine::instance().polls();
    if (polls == polls_ && ++skipped_ < most_skipped) return false;
    if (request_ == MPI_REQUEST_NULL) {  // an error has ended it, or the end of MPI
        if (Engine::instance().ended()) return false;
        open();
    }
    int come = 0, length = 0;
    MPI_Status status;
    check(MPI_Test(&request_, &come, &status), "MPI_Test");
    if (come == 0) {
        polls_ = polls;
        skipped_ = 0;
        return false;
    }
    --unreceived_;
    check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
    Header header{};
    if (static_cast<std::size_t>(length) < sizeof header)
        throw Error(
            "a message of hocket's own is cut short; do all processes run the same version of "
            "hocket?");
    std::memcpy(&header, buffer_.data(), sizeof header);
    ProbeResult text(status.MPI_SOURCE, header.bytes);
    if (!is_long(header.bytes))
        text.text.emplace(buffer_.data() + sizeof header,
                          static_cast<std::size_t>(length) - sizeof header);
    arrived_[static_cast<int>(header.tag)].push_back(std::move(text));
    open();
    return true;
}

std::optional<ProbeResult> TextQueue::take(int from, int tag) {
    const auto of_tag = arrived_.find(tag);
    if (of_tag == arrived_.end()) return std::nullopt;
    std::deque<ProbeResult>& texts = of_tag->second;
    const auto it = std::find_if(texts.begin(), texts.end(), [from](const ProbeResult& each) {
        return from < 0 || each.source == from;
    });
    if (it == texts.end()) return std::nullopt;
    std::optional<ProbeResult> found(std::move(*it));
    texts.erase(it);
    if (texts.empty()) arrived_.erase(of_tag);
    return found;
}

std::optional<ProbeResult> TextQueue::next(int from, int tag) {
    std::optional<ProbeResult> found = take(from, tag);
    while (!found && receive()) found = take(from, tag);
    return found;
}

void Link::queue_texts() {
    // Simulated processes wake each other by the tags of their messages. With MPI's fault
    // tolerance, the end of any process ends a receive from any.
    if (platform::simulated || vendor::tolerates_faults()) return;
    handle_->texts =
        std::make_unique<TextQueue>(handle_->comm, vendor::highest_tag(), handle_->unreceived);
}

}  // namespace hocket::comm

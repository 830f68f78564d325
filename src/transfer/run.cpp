// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/run.hpp"

#include "base/port.hpp"
#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "hocket/memory.hpp"
#include "node/sharing.hpp"

namespace hocket::transfer {
namespace {

std::byte* at(void* base, std::int64_t offset) {
    return static_cast<std::byte*>(base) + offset;
}
const std::byte* at(const void* base, std::int64_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}

/// What a sender tells a near receiver ahead of a long message, and the answer.
struct Offer {
    std::int64_t readable = 0;  // the array is dense and lies at `place`
    node::Place place{};
};
enum Answer : std::int64_t { send_it = 0, have_it = 1 };

/// One process's part of one transfer. Its state is this object, so that what arrives is served
/// in whatever order it comes.
class Mover {
  public:
    Mover(const Work& work, const Place& source, const void* source_data, void* destination_data,
          const Route& route, Profile& times)
        : work_(work),
          source_(source),
          from_(source_data),
          to_(destination_data),
          route_(route),
          times_(times) {}

    /// Everything that can be started without waiting.
    void start() {
        offers_.resize(work_.receives.size());
        answers_.resize(work_.sends.size());
        replies_.resize(work_.receives.size());
        for (std::size_t i = 0; i < work_.receives.size(); ++i) {
            if (offered(work_.receives[i], route_.source)) {
                in_.begin_group(number_of_offer(i));
                route_.link->receive(in_, &offers_[i], sizeof(Offer), sender(i), route_.data_tag);
            } else {
                receive(i);
            }
        }
        for (std::size_t i = 0; i < work_.sends.size(); ++i)
            if (offered(work_.sends[i], route_.destination)) offer(i);
        lap(times_.move, "start");
        for (std::size_t i = 0; i < work_.sends.size(); ++i) {
            if (offered(work_.sends[i], route_.destination)) continue;
            send(i);
            serve();
        }
        for (const auto& local : work_.copies) {
            local.copy.run(at(from_, local.source_offset), at(to_, local.destination_offset));
            lap(times_.pack, "copy what stays");
            serve();
        }
    }

    /// Serves what has come; true once nothing is left to come or to go.
    bool serve() {
        bool more = true;
        while (more) {  // what is served may start something that is done at once
            more = false;
            for (const auto number : in_.newly_done()) {
                more = true;
                arrived(number);
            }
            for (const auto number : replies_in_.newly_done()) {
                more = true;
                if (answers_[number] == send_it) send(number);
            }
        }
        out_.newly_done();
        lap(times_.move, "move");
        return in_.all_done() && replies_in_.all_done() && out_.all_done();
    }

  private:
    bool offered(const Message& message, const std::vector<int>& map) const {
        return message.bytes >= direct_from &&
               route_.link->near(map[static_cast<std::size_t>(message.peer)]);
    }
    int sender(std::size_t i) const {
        return route_.source[static_cast<std::size_t>(work_.receives[i].peer)];
    }
    int receiver(std::size_t i) const {
        return route_.destination[static_cast<std::size_t>(work_.sends[i].peer)];
    }
    std::size_t number_of_offer(std::size_t i) const { return work_.receives.size() + i; }

    void offer(std::size_t i) {
        // The receiver knows the strides of a dense array only.
        const bool dense = source_.dense;
        const auto place = dense ? node::place_of(from_) : std::nullopt;
        offer_ = place ? Offer{1, *place} : Offer{};
        route_.link->send(out_, &offer_, sizeof(Offer), receiver(i), route_.data_tag);
        replies_in_.begin_group(i);
        route_.link->receive(replies_in_, &answers_[i], sizeof(Answer), receiver(i),
                             route_.reply_tag);
    }

    void send(std::size_t i) {
        const auto& message = work_.sends[i];
        const void* data = nullptr;
        if (message.in_place) {
            data = at(from_, message.pieces[0].array_offset);
        } else {
            if (!send_buffer_) send_buffer_ = allocate(work_.send_buffer);
            for (const auto& piece : message.pieces)
                piece.copy.run(at(from_, piece.array_offset),
                               send_buffer_.get() + piece.buffer_offset);
            data = send_buffer_.get() + message.buffer_offset;
            lap(times_.pack, "pack");
        }
        route_.link->send(out_, data, message.bytes, receiver(i), route_.data_tag);
    }

    void receive(std::size_t i) {
        const auto& message = work_.receives[i];
        std::byte* data = nullptr;
        if (message.in_place) {
            data = at(to_, message.pieces[0].array_offset);
        } else {
            if (!receive_buffer_) receive_buffer_ = allocate(work_.receive_buffer);
            data = receive_buffer_.get() + message.buffer_offset;
        }
        in_.begin_group(i);
        route_.link->receive(in_, data, message.bytes, sender(i), route_.data_tag);
    }

    void arrived(std::size_t number) {
        if (number >= work_.receives.size()) {
            answer(number - work_.receives.size());
            return;
        }
        const auto& message = work_.receives[number];
        if (message.in_place) return;
        for (const auto& piece : message.pieces)
            piece.copy.run(receive_buffer_.get() + piece.buffer_offset,
                           at(to_, piece.array_offset));
    }

    void answer(std::size_t i) {
        const Offer& offer = offers_[i];
        const std::byte* there = offer.readable != 0 ? node::map(offer.place) : nullptr;
        replies_[i] = there != nullptr ? have_it : send_it;
        if (there == nullptr) {
            receive(i);
        } else {
            for (const auto& copy : work_.direct[i])
                copy.copy.run(there + copy.source_offset, at(to_, copy.destination_offset));
        }
        route_.link->send(out_, &replies_[i], sizeof(Answer), sender(i), route_.reply_tag);
    }

    void lap(double& seconds, const char* name) {
        const double now = comm::Engine::instance().seconds(), spent = now - last_;
        seconds += spent;
        last_ = now;
        if (!trace::enabled()) return;
        const double end = port::seconds();
        trace::record(name, end - spent, end);
    }

    const Work& work_;
    const Place& source_;
    const void* from_;
    void* to_;
    const Route& route_;
    Profile& times_;
    double last_ = comm::Engine::instance().seconds();
    std::shared_ptr<std::byte> send_buffer_, receive_buffer_;
    Offer offer_;  // the same for all receivers
    std::vector<Offer> offers_;
    std::vector<Answer> answers_, replies_;
    comm::Requests in_, replies_in_, out_;  // last, so that they end before their buffers
};

}  // namespace

comm::Protocol<> run(std::shared_ptr<const Work> work, Place source, const void* source_data,
                     void* destination_data, Route route, std::shared_ptr<Profile> profile) {
    if (!profile) profile = std::make_shared<Profile>();
    Mover mover(*work, source, source_data, destination_data, route, *profile);
    mover.start();
    comm::When done([&] { return mover.serve(); });
    co_await comm::until(done);
}

}  // namespace hocket::transfer

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/early_elements.hpp"

#include "hocket/error.hpp"

namespace hocket::transport {

void append_early(std::string& elements, const Schedule& schedule, const std::byte* memory) {
    std::size_t bytes = 0;
    for (const Message& message : schedule.sends) bytes += static_cast<std::size_t>(message.bytes);
    auto at = static_cast<std::int64_t>(elements.size());
    elements.resize(elements.size() + bytes);
    auto* const to = reinterpret_cast<std::byte*>(elements.data());
    for (const Message& message : schedule.sends) {
        const Chunks& pieces = message.cut(Chunks::Kind::packing, piece_bytes);
        for (std::uint64_t part = 0; part < pieces.size(); ++part)
            pieces.run(part, memory, to + at + pieces.begin(part));
        at += message.bytes;
    }
}

void unpack_early(std::span<const std::byte> elements, const Schedule& schedule,
                  std::byte* memory) {
    std::int64_t at = 0;
    for (const Message& message : schedule.receives) {
        const Chunks& pieces = message.cut(Chunks::Kind::unpacking, piece_bytes);
        if (at + message.bytes > static_cast<std::int64_t>(elements.size()))
            throw Error(
                "the elements of a message are cut off; do all processes run the same "
                "version of hocket?");
        for (std::uint64_t part = 0; part < pieces.size(); ++part)
            pieces.run(part, elements.data() + at + pieces.begin(part), memory);
        at += message.bytes;
    }
}

}  // namespace hocket::transport

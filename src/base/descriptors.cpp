// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptors.hpp"

#include <sys/socket.h>

#include <cstring>

namespace hocket::base {
namespace {

// A message that may carry one descriptor.
struct DescriptorMessage {
    DescriptorMessage(std::byte* bytes, std::size_t count) : part{bytes, count} {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control;
        // Without the padding, in which a second descriptor would find room.
        header.msg_controllen = CMSG_LEN(sizeof(int));
    }
    iovec part;
    msghdr header{};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
};

}  // namespace

long send_descriptor(int line, std::span<const std::byte> bytes, int file) {
    DescriptorMessage message(const_cast<std::byte*>(bytes.data()), bytes.size());
    if (file < 0) {
        message.header.msg_controllen = 0;
    } else {
        cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof file);
        std::memcpy(CMSG_DATA(item), &file, sizeof file);
    }
    return sendmsg(line, &message.header, MSG_NOSIGNAL);
}

long receive_descriptor(int line, std::span<std::byte> into, int& file) {
    DescriptorMessage message(into.data(), into.size());
    const ssize_t got = recvmsg(line, &message.header, MSG_CMSG_CLOEXEC);
    const cmsghdr* const item = got > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
    file = -1;
    if (item != nullptr && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
        item->cmsg_len == CMSG_LEN(sizeof file))
        std::memcpy(&file, CMSG_DATA(item), sizeof file);
    return got;
}

}  // namespace hocket::base

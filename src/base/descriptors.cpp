// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptors.hpp"

#include <sys/socket.h>

#include <cstring>

namespace hocket::base {
namespace {

// A message of one byte that carries a descriptor.
struct DescriptorMessage {
    explicit DescriptorMessage(char& byte) : part{&byte, 1} {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof control;
    }
    iovec part;
    msghdr header{};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
};

}  // namespace

bool send_descriptor(int line, char byte, int file) {
    DescriptorMessage message(byte);
    if (file < 0) {
        message.header.msg_controllen = 0;
    } else {
        cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof file);
        std::memcpy(CMSG_DATA(item), &file, sizeof file);
    }
    return sendmsg(line, &message.header, MSG_NOSIGNAL) == 1;
}

long receive_descriptor(int line, char& byte, int& file) {
    DescriptorMessage message(byte);
    const ssize_t got = recvmsg(line, &message.header, MSG_CMSG_CLOEXEC);
    const cmsghdr* const item = got > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
    file = -1;
    if (item != nullptr && item->cmsg_type == SCM_RIGHTS)
        std::memcpy(&file, CMSG_DATA(item), sizeof file);
    return got;
}

}  // namespace hocket::base

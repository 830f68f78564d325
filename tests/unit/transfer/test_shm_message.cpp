// SPDX-License-Identifier: BSD-3-Clause
// A long message between two processes whose arrays nobody can map, through the kernel: either end
// does it alone while the other is away, which the ring of buffers could not. And a short one that
// its sender lends.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/memory.hpp"
#include "shm/cma.hpp"
#include "transfer/cut.hpp"
#include "transport/shm_message.hpp"

namespace hocket::transfer {
namespace {

using namespace transport;

// Read once, before the first message: not by timing.
const int told = setenv("HOCKET_CROSSING", "always", 1);

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();
using Values = std::vector<double>;
constexpr std::int64_t rows = 300, columns = 400;

// The first columns of a wider array on one side: as many runs as rows.
MessageBoxes columns_of(bool strided_source) {
    plan::Box box;
    const Shape narrow = dense_strides({rows, columns}, sizeof(double));
    const Shape wide = dense_strides({rows, 2 * columns}, sizeof(double));
    box.source_first = box.destination_first = {0, 0};
    box.loops = {{rows, 0, 1, 0, 1}, {columns, 1, 1, 1, 1}};
    return {{box}, sizeof(double), strided_source ? wide : narrow, strided_source ? narrow : wide};
}

Message message_of(const MessageBoxes& boxes, bool dense) {
    return {0,
            0,
            0,
            boxes.bytes(),
            dense,
            std::make_shared<const Message::Cutter>(
                [boxes](const Message&, Chunks::Kind kind, std::int64_t part_bytes) {
                    return cut(boxes, kind, part_bytes > 0 ? part_bytes : bytes_of_part(boxes));
                })};
}

Message message_of(bool strided_source, bool dense) {
    return message_of(columns_of(strided_source), dense);
}

bool within_seconds(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(100);
    while (!done()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::yield();
    }
    return true;
}

bool arrived(const Values& to, bool strided_source) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
            const std::int64_t wide = r * 2 * columns + c, narrow = r * columns + c;
            const auto at = static_cast<std::size_t>(strided_source ? narrow : wide);
            if (to[at] != static_cast<double>(strided_source ? wide : narrow)) return false;
        }
    return true;
}

// A child that ends with 0 if `function` is true.
pid_t in_a_child(const std::function<bool()>& function) {
    const pid_t child = fork();
    if (child == 0) _exit(function() ? 0 : 1);
    return child;
}
int status_of(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

TEST(Crossed, TheReceiverAloneReads) {
    ASSERT_EQ(told, 0);
    const Message sent = message_of(false, true), received = message_of(false, false);
    Values from(static_cast<std::size_t>(rows * columns)), to(2 * from.size(), -1);
    std::iota(from.begin(), from.end(), 0.0);
    ShmSend send(sent, true);
    const shm::SharedAddress offer = send.offer();
    send.start(from.data());
    const pid_t child = in_a_child([&] {
        ShmReceive receive(received, offer);
        receive.start(to.data());
        return within_seconds([&] { return receive.poll(); }) && arrived(to, false);
    });
    EXPECT_EQ(status_of(child), 0);  // while this end is in waitpid
    EXPECT_TRUE(within_seconds([&] { return send.poll(no_bound); }));
}

TEST(Crossed, TheSenderAloneWrites) {
    const Message sent = message_of(true, false), received = message_of(true, true);
    Values from(static_cast<std::size_t>(2 * rows * columns)), to(from.size(), -1);
    std::iota(from.begin(), from.end(), 0.0);
    ShmSend send(sent, true);
    const shm::SharedAddress offer = send.offer();
    int sent_all[2];
    ASSERT_EQ(pipe(sent_all), 0);
    const pid_t child = in_a_child([&] {
        ShmReceive receive(received, offer);
        receive.start(to.data());
        // Observes the address of the array, and answers; then it does not poll until all is
        // written.
        while (!receive.answered()) receive.poll();
        char byte = 0;
        if (read(sent_all[0], &byte, 1) != 1) return false;
        return within_seconds([&] { return receive.poll(); }) && arrived(to, true);
    });
    send.start(from.data());
    EXPECT_TRUE(within_seconds([&] { return send.poll(no_bound); }));
    EXPECT_EQ(write(sent_all[1], "!", 1), 1);
    EXPECT_EQ(status_of(child), 0);
    for (const int end : sent_all) close(end);
}

// The error of either end contains `why`, whichever end found the cause.
bool throws(const std::function<bool()>& poll, const std::string& why) {
    try {
        return within_seconds(poll) && false;
    } catch (const Error& error) {
        return std::string(error.what()).find(why) != std::string::npos;
    }
}

TEST(Broken, AnErrorInTheMiddleOfACopyIsOneOfBothEnds) {
    ASSERT_EQ(told, 0);
    const Message sent = message_of(false, true), received = message_of(false, false);
    const auto bytes = static_cast<std::size_t>(sent.bytes);
    const std::size_t page = 4096;
    void* const from =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(from, MAP_FAILED);
    Values to(2 * bytes / sizeof(double));
    ShmSend send(sent, true);
    const shm::SharedAddress offer = send.offer();
    send.start(from);
    // The first byte can still be read, as the receiver tries.
    munmap(static_cast<std::byte*>(from) + page, bytes - page);
    const std::string why = "cannot be copied across processes any more";
    const pid_t child = in_a_child([&] {
        ShmReceive receive(received, offer);
        receive.start(to.data());
        return throws([&] { return receive.poll(); }, why);
    });
    EXPECT_EQ(status_of(child), 0);
    EXPECT_TRUE(throws([&] { return send.poll(no_bound); }, why));
    munmap(from, page);
}

TEST(Broken, AnEndThatIsBrokenOffEndsTheOthersWait) {
    const Message sent = message_of(false, true), received = message_of(false, false);
    Values from(static_cast<std::size_t>(rows * columns)), to(2 * from.size());
    for (const bool by_sender : {false, true}) {
        ShmSend send(sent, true);
        ShmReceive receive(received, send.offer());
        send.start(from.data());
        receive.start(to.data());
        if (by_sender) {
            send.abort_use("no room");
            EXPECT_TRUE(throws([&] { return receive.poll(); }, "no room"));
        } else {
            receive.abort_use("no room");
            EXPECT_TRUE(throws([&] { return send.poll(no_bound); }, "no room"));
        }
    }
    // And none of it stays in the next channel.
    ShmSend send(sent, true);
    ShmReceive receive(received, send.offer());
    std::iota(from.begin(), from.end(), 0.0);
    send.start(from.data());
    receive.start(to.data());
    EXPECT_TRUE(within_seconds([&] { return receive.poll(); }));
    EXPECT_TRUE(within_seconds([&] { return send.poll(no_bound); }));
    EXPECT_TRUE(arrived(to, false));
}

// The receiver may be about to copy the rest, and the memory of the end that broke off is gone when
// it does.
TEST(Broken, NothingIsCopiedAfterAnEndHasBrokenOff) {
    const Message sent = message_of(false, true), received = message_of(false, false);
    ASSERT_GT(sent.parts().size(), 1U);
    Values from(static_cast<std::size_t>(rows * columns), 1), to(2 * from.size(), -1);
    const Values untouched = to;
    ShmSend send(sent, true);
    ShmReceive receive(received, send.offer());
    send.start(from.data());
    receive.start(to.data());
    EXPECT_FALSE(receive.poll());
    ASSERT_TRUE(receive.answered());
    send.abort_use("no room");
    EXPECT_TRUE(throws([&] { return receive.poll(); }, "no room"));
    EXPECT_EQ(to, untouched);
}

// A receiver may learn that all is copied long after the sender has reused the channel.
TEST(Broken, ALateEndBreaksNoLaterUseOfItsLane) {
    const Message sent = message_of(false, true), received = message_of(false, false);
    Values from(static_cast<std::size_t>(rows * columns)), to(2 * from.size(), -1);
    std::iota(from.begin(), from.end(), 0.0);
    auto first = std::make_unique<ShmSend>(sent, true);
    const shm::SharedAddress channel = first->offer();
    ShmReceive late(received, first->offer());
    first->start(from.data());
    late.start(to.data());
    while (!first->poll(no_bound)) ASSERT_FALSE(late.poll());
    first.reset();
    ShmSend send(sent, true);
    ASSERT_EQ(send.offer().offset, channel.offset);
    ShmReceive receive(received, send.offer());
    late.abort_use("too late");
    std::fill(to.begin(), to.end(), -1);
    send.start(from.data());
    receive.start(to.data());
    EXPECT_TRUE(within_seconds([&] { return receive.poll(); }));
    EXPECT_TRUE(within_seconds([&] { return send.poll(no_bound); }));
    EXPECT_TRUE(arrived(to, false));
}

Message short_message() {
    plan::Box box;
    box.source_first = box.destination_first = {0};
    box.loops = {{lent_from / 8, 0, 1, 0, 1}};
    return message_of(MessageBoxes{{box}, 8, {8}, {8}}, true);
}

// The numbers of a short message in memory that other processes can map.
std::shared_ptr<std::byte> shared_numbers(const Message& message) {
    auto memory = allocate(message.bytes);
    auto* const numbers = reinterpret_cast<std::int64_t*>(memory.get());
    std::iota(numbers, numbers + message.bytes / 8, std::int64_t{1});
    return memory;
}
bool holds(const std::vector<std::int64_t>& to) {
    for (std::size_t i = 0; i < to.size(); ++i)
        if (to[i] != static_cast<std::int64_t>(i) + 1) return false;
    return true;
}

// After it is packed, its sender may change the array; a lent one is read where it is.
TEST(Lent, TheReceiverReadsTheSendersArray) {
    const Message message = short_message();
    const auto from = shared_numbers(message);
    for (const bool lends : {false, true}) {
        ShmSend send(message, false, lends);
        ShmReceive receive(message, send.offer());
        std::vector<std::int64_t> to(static_cast<std::size_t>(message.bytes) / 8, -1);
        send.start(from.get());
        EXPECT_EQ(send.poll(no_bound), !lends);
        auto& last = reinterpret_cast<std::int64_t*>(from.get())[to.size() - 1];
        last = 0;
        receive.start(to.data());
        EXPECT_TRUE(within_seconds([&] { return receive.poll(); }));
        EXPECT_TRUE(send.poll(no_bound));
        EXPECT_EQ(to.back(), lends ? 0 : static_cast<std::int64_t>(to.size()));
        last = static_cast<std::int64_t>(to.size());
    }
}

// Each in turn, over one channel: the receiver takes them in their order, though it comes late.
TEST(Lent, AnArrayIsYoungerThanAFilledSlot) {
    const Message message = short_message();
    const auto shared = shared_numbers(message);
    std::vector<std::int64_t> own(static_cast<std::size_t>(message.bytes) / 8, 7), to(own.size());
    ShmSend send(message, false);
    ShmReceive receive(message, send.offer());
    for (int run = 0; run < 4; ++run) {
        send.start(own.data());
        ASSERT_TRUE(send.poll(no_bound));
        send.start(shared.get());
        receive.start(to.data());
        ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
        EXPECT_EQ(to, own);
        EXPECT_FALSE(send.poll(no_bound));
        if (run % 2 == 0) {
            receive.start(to.data());
            ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
            EXPECT_TRUE(holds(to));
        } else {
            receive.discard();
            EXPECT_FALSE(send.poll(no_bound));  // or its next slot would pass for this message
            ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
            EXPECT_EQ(to, own);
        }
        ASSERT_TRUE(send.poll(no_bound));
    }
    receive.discard();
    send.start(shared.get());
    ASSERT_TRUE(send.poll(no_bound));  // packed, as nobody wants it
    send.start(own.data());
    ASSERT_TRUE(send.poll(no_bound));
    ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
    receive.start(to.data());
    std::fill(to.begin(), to.end(), 0);
    ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
    EXPECT_EQ(to, own);
    receive.discard();
    send.refuse();
    EXPECT_FALSE(send.poll(no_bound));
    ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
    ASSERT_TRUE(send.poll(no_bound));
    send.refuse();
    receive.start(to.data());
    ASSERT_TRUE(within_seconds([&] { return receive.poll(); }));
    EXPECT_TRUE(receive.refused());
    ASSERT_TRUE(send.poll(no_bound));
}

// No process may open a file, and nothing has mapped the array's memory before.
TEST(Lent, ASenderPacksWhatItsReceiverCannotMap) {
    const Message message = short_message();
    rlimit files{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    for (const bool once : {true, false}) {
        const std::shared_ptr<std::byte> from = allocate(std::int64_t{64} << 20);
        std::vector<std::int64_t> to(static_cast<std::size_t>(message.bytes) / 8, -1);
        std::memset(from.get(), 0x11, static_cast<std::size_t>(message.bytes));
        ShmSend send(message, once);
        ShmReceive receive(message, send.offer());
        send.start(from.get());
        receive.start(to.data());
        const rlimit none{0, files.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        EXPECT_FALSE(receive.poll());
        EXPECT_EQ(send.poll(no_bound), !once);
        EXPECT_EQ(send.held(), once ? bytes_packed(message) : 0);
        EXPECT_TRUE(receive.poll());
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
        EXPECT_TRUE(send.poll(no_bound));
        EXPECT_EQ(send.held(), 0);
        EXPECT_EQ(to, std::vector<std::int64_t>(to.size(), 0x1111111111111111));
    }
}

TEST(Lent, AnEndThatIsBrokenOffEndsTheOthersWait) {
    const Message message = short_message();
    const auto from = shared_numbers(message);
    std::vector<std::int64_t> to(static_cast<std::size_t>(message.bytes) / 8, -1);
    const auto untouched = to;
    for (const bool by_sender : {false, true}) {
        ShmSend send(message, true);
        ShmReceive receive(message, send.offer());
        send.start(from.get());
        receive.start(to.data());
        if (by_sender) {
            send.abort_use("no room");
            EXPECT_TRUE(throws([&] { return receive.poll(); }, "no room"));
            EXPECT_EQ(to, untouched);
        } else {
            receive.abort_use("no room");
            EXPECT_TRUE(throws([&] { return send.poll(no_bound); }, "no room"));
        }
    }
}

}  // namespace
}  // namespace hocket::transfer

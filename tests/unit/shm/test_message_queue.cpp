// SPDX-License-Identifier: BSD-3-Clause
// Numbered texts between two: taken in any order, of any length, none lost while the ring is full.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "shm/message_queue.hpp"

namespace hocket::shm::message_queue_test {
namespace {

class MessageQueueTest : public ::testing::Test {
  protected:
    void SetUp() override {
        a_.read_from(back_);
        b_.read_from(there_);
    }
    std::shared_ptr<RingBuffer> there_ = std::make_shared<RingBuffer>();
    std::shared_ptr<RingBuffer> back_ = std::make_shared<RingBuffer>();
    MessageQueue a_{there_.get()}, b_{back_.get()};
};

TEST_F(MessageQueueTest, IsTakenByNumber) {
    a_.send(7, "seven");
    a_.send(5, "");
    a_.send(7, std::string("sev\0en", 6));
    b_.send(7, "back");
    EXPECT_FALSE(b_.receive(6));
    EXPECT_EQ(b_.receive(5), "");
    EXPECT_EQ(b_.receive(7), "seven");
    EXPECT_EQ(b_.receive(7), std::string("sev\0en", 6));
    EXPECT_FALSE(b_.receive(7));
    EXPECT_EQ(a_.receive(7), "back");
}

TEST_F(MessageQueueTest, LongTextsPassInPieces) {
    const std::string text(100'003, 'x'), more = "more";
    const auto sent = a_.send(1, text), later = a_.send(2, more);
    EXPECT_FALSE(a_.delivered(sent));
    int looks = 0;
    while (!a_.delivered(later)) {
        EXPECT_FALSE(b_.receive(3));
        ASSERT_LT(++looks, 1000);
    }
    EXPECT_TRUE(a_.delivered(sent));
    EXPECT_EQ(b_.receive(2), more);
    EXPECT_EQ(b_.receive(1), text);
}

TEST_F(MessageQueueTest, WhatIsGoneNeedsTheWriterNoMore) {
    auto writer = std::make_unique<MessageQueue>(there_.get());
    ASSERT_TRUE(writer->delivered(writer->send(1, "last words")));
    writer.reset();
    EXPECT_EQ(b_.receive(1), "last words");
}

TEST_F(MessageQueueTest, AReaderThatHasDetachedAwaitsNothing) {
    EXPECT_FALSE(there_->unused());
    const auto sent = a_.send(1, std::string(100'003, 'x'));
    EXPECT_FALSE(a_.all_delivered());
    b_.detach();
    EXPECT_TRUE(a_.delivered(sent) && a_.all_delivered() && there_->unused());
}

TEST(MessageQueue, WhatNobodyAttachesToMustBeEmptyToBeUnused) {
    RingBuffer ring;
    EXPECT_TRUE(ring.unused());
    MessageQueue(&ring).send(1, "");
    EXPECT_FALSE(ring.unused());
}

}  // namespace
}  // namespace hocket::shm::message_queue_test

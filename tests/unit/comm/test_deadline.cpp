// SPDX-License-Identifier: BSD-3-Clause
// Deadlines, and faults as they travel.
#include <gtest/gtest.h>

#include <limits>

#include "comm/agree.hpp"
#include "hocket/operation.hpp"

namespace hocket {
namespace {

TEST(Deadline, NoneNeverPasses) {
    EXPECT_FALSE(Deadline().passed());
    EXPECT_FALSE(Deadline().limited());
    EXPECT_FALSE(Deadline::in(std::nullopt).limited());
}

TEST(Deadline, PassesWhenItsTimeHasCome) {
    EXPECT_TRUE(Deadline::in(0.0).passed());
    EXPECT_TRUE(Deadline::in(0.0).limited());
    EXPECT_FALSE(Deadline::in(1000.0).passed());
    EXPECT_EQ(Deadline::in(1000.0).timeout(), 1000.0);
    EXPECT_FALSE(Deadline::in(0.0).later(1000).passed());
    EXPECT_EQ(Deadline::in(0.5).later(1000).timeout(), 0.5);
}

TEST(Deadline, RefusesWhatIsNoTime) {
    EXPECT_THROW(Deadline::in(-1.0), Error);
    EXPECT_THROW(Deadline::in(std::numeric_limits<double>::quiet_NaN()), Error);
}

template <class E>
std::string kind_after_travel(const char* message) {
    comm::Fault fault;
    try {
        throw E(message);
    } catch (...) {
        fault = comm::Fault::current();
    }
    EXPECT_TRUE(fault);
    EXPECT_EQ(fault.message, message);
    EXPECT_THROW(fault.raise(), E);
    return fault.kind;
}

TEST(Fault, ArrivesAsTheClassThatItWas) {
    EXPECT_EQ(kind_after_travel<Error>("a"), "Error");
    EXPECT_EQ(kind_after_travel<LayoutError>("b"), "LayoutError");
    EXPECT_EQ(kind_after_travel<MismatchError>("c"), "MismatchError");
    EXPECT_EQ(kind_after_travel<DeadlineError>("d"), "DeadlineError");
    EXPECT_EQ(kind_after_travel<PeerLostError>("e"), "PeerLostError");
    EXPECT_EQ(kind_after_travel<EndOfStream>("f"), "EndOfStream");
    EXPECT_FALSE(comm::Fault{});
}

TEST(Fault, AnyOtherExceptionBecomesAnError) {
    comm::Fault fault;
    try {
        throw std::out_of_range("far out");
    } catch (...) {
        fault = comm::Fault::current();
    }
    EXPECT_EQ(fault.kind, "Error");
    EXPECT_THROW(fault.raise(), Error);
}

}  // namespace
}  // namespace hocket

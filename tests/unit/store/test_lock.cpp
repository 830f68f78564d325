// SPDX-License-Identifier: BSD-3-Clause
// The lock of a writer, and work that ends no wait meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "hocket/error.hpp"
#include "store/file_work.hpp"
#include "store/lock.hpp"

namespace {

using namespace hocket;

TEST(Lock, OfAStoreThatWasReplacedAfterItsOpening) {
    const auto above =
        std::filesystem::temp_directory_path() / ("hocket-lock-" + std::to_string(::getpid()));
    std::filesystem::remove_all(above);
    std::filesystem::create_directories(above / "run");
    std::filesystem::create_directory(above / "new");
    const zarr::Place found = zarr::Place::of((above / "run").string());
    {
        const store::Lock mine(found);
        EXPECT_THROW(store::Lock(zarr::Place::of(found.path)), Error);
    }
    // As a save does between the two.
    std::filesystem::rename(above / "run", above / ".run.read1");
    std::filesystem::rename(above / "new", above / "run");
    try {
        const store::Lock mine(found);
        ADD_FAILURE() << "locked";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("was replaced meanwhile"), std::string::npos);
    }
    EXPECT_TRUE(std::filesystem::is_empty(above / ".run.read1"));
    { const store::Lock mine(zarr::Place::of(found.path)); }
    std::filesystem::remove_all(above);
}

// So a wait looks at its deadline after every piece of work in its own thread.
TEST(FileWork, InThePollingThreadTakesAPollOfItsOwn) {
    store::FileWork work;
    EXPECT_TRUE(work.poll());
    int done = 0;
    for (int piece = 1; piece <= 3; ++piece) {
        work.start([&] { ++done; }, false);
        EXPECT_EQ(done, piece);
        EXPECT_FALSE(work.poll());
        EXPECT_TRUE(work.poll());
    }
}

}  // namespace

// SPDX-License-Identifier: BSD-3-Clause
// Folders that another program replaces and removes while this one opens them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include "hocket/error.hpp"
#include "zarr/files.hpp"

namespace {

// The other program acts between an open and the lock.
std::function<void()> before_lock;

}  // namespace

// Takes the place of the C library's.
extern "C" int flock(int descriptor, int operation) noexcept {
    if (const auto act = std::exchange(before_lock, nullptr)) act();
    return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace {

using namespace hocket::zarr;
using hocket::Error;

class Removal : public ::testing::Test {
  protected:
    void SetUp() override {
        above_ = std::filesystem::temp_directory_path() /
                 ("hocket-removal-" + std::to_string(::getpid()));
        std::filesystem::remove_all(above_);
        std::filesystem::create_directory(above_);
        make("run", "old");
        make("new", "new");
    }
    void TearDown() override {
        before_lock = nullptr;
        std::filesystem::remove_all(above_);
    }
    std::string path(const std::string& name) const { return (above_ / name).string(); }
    void make(const std::string& name, const std::string& text) const {
        Folder::make(path(name));
        Folder::open(path(name))->replace_text("zarr.json", text, false);
    }
    void exchange() const {
        ASSERT_EQ(::renameat2(AT_FDCWD, path("new").c_str(), AT_FDCWD, path("run").c_str(),
                              RENAME_EXCHANGE),
                  0);
    }

    std::filesystem::path above_;
};

TEST_F(Removal, OfAFolderBetweenItsOpeningAndItsLock) {
    before_lock = [this] {
        exchange();
        EXPECT_TRUE(remove_store(path("new")));
    };
    EXPECT_EQ(Folder::open(path("run"))->text("zarr.json"), "new");
}

TEST_F(Removal, ThatWasKilledHalfwayLeavesAFolderThatNobodyOpens) {
    before_lock = [this] {
        exchange();
        std::filesystem::remove(above_ / "new/zarr.json");
    };
    EXPECT_EQ(Folder::open(path("run"))->text("zarr.json"), "new");
}

TEST_F(Removal, AgainAndAgainEndsWithAnError) {
    int times = 0;
    std::function<void()> act = [&] {
        ++times;
        exchange();
        before_lock = act;
    };
    before_lock = act;
    try {
        Folder::open(path("run"));
        ADD_FAILURE() << "opened";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("was replaced meanwhile"), std::string::npos);
    }
    EXPECT_EQ(times, 100);
}

TEST_F(Removal, OnlyRenamesWhatOthersRead) {
    const auto open = Folder::open(path("run"));
    EXPECT_FALSE(open->was_replaced());
    std::filesystem::rename(path("run"), path("kept"));
    EXPECT_FALSE(open->was_replaced());  // it has no successor
    EXPECT_FALSE(remove_store(path("kept")));
    EXPECT_EQ(open->text("zarr.json"), "old");
    std::filesystem::rename(path("new"), path("run"));
    EXPECT_TRUE(open->was_replaced());
}

// Not hocket's: `flock run program`.
TEST_F(Removal, IsNotExpectedOfEveryLock) {
    const File other(::open(path("run").c_str(), O_RDONLY | O_DIRECTORY), path("run"));
    ASSERT_EQ(::syscall(SYS_flock, other.descriptor(), 2 /* LOCK_EX */), 0);
    EXPECT_EQ(Folder::open(path("run"))->text("zarr.json"), "old");
}

}  // namespace

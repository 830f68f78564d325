// SPDX-License-Identifier: BSD-3-Clause
// Processes that some launcher has started; here the launcher is a child of the test.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "shm/launcher.hpp"

namespace hocket::shm::launcher_test {
namespace {

const Launcher launcher{{"a launcher"}, "RANK", {{"JOB", "7"}, {"SPAWNED", std::nullopt}}};

// A process that runs a command of the shell until its launcher ends, in a group of its own.
pid_t start(const char* command, std::vector<const char*> environment) {
    environment.push_back(nullptr);
    const pid_t id = fork();
    if (id != 0) return id;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execle("/bin/sh", "sh", "-c", command, nullptr, environment.data());
    _exit(1);
}

// "1:1 2:2 complete": the ranks with the number of their processes.
std::string seen() {
    const auto all = launched_processes(launcher);
    if (!all) return "no launcher";
    std::string text, complete = "complete";
    for (const auto& [rank, processes] : *all) {
        if (rank < 0)
            complete = "incomplete";
        else
            text += std::to_string(rank) + ":" + std::to_string(processes.size()) + " ";
    }
    return text + complete;
}

// Some milliseconds after their start processes are what they are meant to be.
std::string seen_in_the_end(const std::string& expected) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::string now = seen();
    while (now != expected && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        now = seen();
    }
    return now;
}

// The environment of a launcher's process.
std::string of_a_rank() {
    start("exec sleep 100", {"RANK=1", "JOB=7"});
    const pid_t killed = start("sleep 100; true", {"RANK=2", "JOB=7"});
    start("exec sleep 100", {"RANK=3", "JOB=8"});
    start("exec sleep 100", {"RANK=4", "JOB=7", "SPAWNED=1"});
    const pid_t rank = fork();
    if (rank != 0) {
        waitpid(rank, nullptr, 0);
        return "";
    }
    std::string told = seen_in_the_end("1:1 2:2 complete");
    kill(-killed, SIGKILL);  // nobody asks for its status: it stays in the table
    told += ", " + seen_in_the_end("1:1 complete");
    return told;
}

TEST(LaunchedProcesses, AreOfTheSameLauncherAndProgram) {
    EXPECT_FALSE(launched_processes(launcher));
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t id = fork();
    if (id == 0) {
        prctl(PR_SET_NAME, "a launcher");
        const std::string told = of_a_rank();
        [[maybe_unused]] const auto written = write(ends[1], told.data(), told.size());
        _exit(0);
    }
    close(ends[1]);
    std::string told(100, ' ');
    told.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], told.data(), 100), 0)));
    EXPECT_EQ(told, "1:1 2:2 complete, 1:1 complete");
    close(ends[0]);
    waitpid(id, nullptr, 0);
}

}  // namespace
}  // namespace hocket::shm::launcher_test

// SPDX-License-Identifier: BSD-3-Clause
// All tasks as this process knows them, and this process in one of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/agree.hpp"
#include "comm/link.hpp"
#include "hocket/task.hpp"
#include "task/matcher.hpp"

namespace hocket {

struct Tasks::State {
    Comm comm;  // the user's, over all tasks
    std::unique_ptr<comm::Link> link;
    std::vector<std::string> names;
    std::vector<std::vector<int>> ranks;  // of each task, in its order
    std::map<int, std::shared_ptr<task::Member>> mine;
    std::shared_ptr<Profile> profile = std::make_shared<Profile>();

    /// @throws Error for a task that does not exist, suggesting the near name.
    int index(const TaskId& id) const;
    int find(const TaskId& id) const;  ///< the same; -1 for a task that does not exist
    bool share_process(int a, int b) const;
};

namespace task {

/// Tags on the link of all tasks. A window of numbers for each task and purpose, used in turn:
/// calls under way at the same time never share one.
class Tags {
  public:
    Tags() = default;
    /// @throws Error if there are more tasks than tags.
    Tags(int tasks, int highest_tag);
    int envelope(int destination) const { return destination; }
    int tree(int task, std::int64_t call) const { return at(0, task, call); }
    int reply(int source, std::int64_t send) const { return at(1, source, send); }
    int data(int source, std::int64_t send) const { return at(2, source, send); }
    /// For a persistent request, as long as it lives.
    int kept(int source, std::int64_t request) const { return at(3, source, request); }

  private:
    int at(int purpose, int task, std::int64_t number) const {
        return tasks_ * (1 + purpose * window_) + task * window_ +
               static_cast<int>(number % window_);
    }
    int tasks_ = 1, window_ = 1;
};

/// Lets calls pass one after the other, in the order in which they were made.
class Queue {
  public:
    std::int64_t ticket() { return issued_++; }
    bool is_next(std::int64_t ticket) const { return ticket == passed_; }
    void pass() { ++passed_; }

  private:
    std::int64_t issued_ = 0, passed_ = 0;
};

/// This process in one task.
struct Member {
    explicit Member(Comm of_task) : comm(std::move(of_task)) {}

    Comm comm;  // of the task, the user's to use
    Tasks::State* all = nullptr;
    int task = 0;
    comm::Group group;
    Tags tags;
    std::int64_t calls = 0;             // collective calls of the task so far
    std::int64_t kept = 0;              // persistent sends of the task so far
    Queue sends, receives;              // on the lowest process
    Matcher matcher;                    // likewise
    std::map<int, std::string> broken;  // other task -> what broke the pair
    std::optional<std::string> shown_name;

    /// @throws Error if an earlier deadline broke the pair with that task.
    void require_whole(int other, const std::string& verb) const;
    const std::string& name() const { return all->names[static_cast<std::size_t>(task)]; }
    int lowest_of(int other) const { return all->ranks[static_cast<std::size_t>(other)][0]; }
};

}  // namespace task
}  // namespace hocket

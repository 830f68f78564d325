// SPDX-License-Identifier: BSD-3-Clause
// A page in which each process publishes whether it has left, and which collective calls it waits
// to begin. Other processes of its node read it at any time, also after its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "shm/mapping.hpp"

namespace hocket::shm {

/// The address of this process's page for others; invalid if memory cannot be shared.
SharedAddress own_status_page();
/// This process has left: it sends nothing more.
void publish_departure();

/// In between, others can see that this process waits to begin a collective call with them.
/// `number` identifies the call on all of them.
void publish_wait(std::uint64_t number);
void end_wait(std::uint64_t number);

/// The page of a process, by its open files; nullptr if it has none yet.
std::shared_ptr<std::byte> status_page_of(std::int64_t process);

/// Whether the process of a page has left in good order.
bool has_left(std::byte* page);
/// Whether it waits to begin that call.
bool waits(std::byte* page, std::uint64_t number);

}  // namespace hocket::shm

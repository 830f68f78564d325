// SPDX-License-Identifier: BSD-3-Clause
// How jobs that met by a port meet again: the one accepts the other at the same port.
#pragma once

#include <memory>
#include <string>

#include "port/state.hpp"
#include "task/reunion.hpp"

namespace hocket::port {

/// The acceptor's part. `task`: the other job's. `seconds` for the other job to come back; 0: the
/// default.
std::shared_ptr<task::Reunion> accept_again(std::shared_ptr<State> port, std::string task,
                                            double seconds);
/// The connector's part.
std::shared_ptr<task::Reunion> connect_again(const Comm& comm, std::string name,
                                             ConnectOptions options);

}  // namespace hocket::port

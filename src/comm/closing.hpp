// SPDX-License-Identifier: BSD-3-Clause
// Closes a link. MPI reuses the context of a freed communicator. A message that was sent on the
// first one and never received then reaches the second one, or ends the program if the second one
// has fewer processes (Open MPI). So a communicator is freed once all its processes have closed it
// and every message on it has been received; one with messages left is never freed.
#pragma once

#include <memory>

#include "comm/link.hpp"

namespace hocket::comm {

/// Local and without waiting: the processes agree in the background, while they wait for other
/// things. Any thread may call it. The endpoints go with the link: other jobs see these processes
/// leave.
void close(std::unique_ptr<Link> link);

struct Close {
    void operator()(Link* link) const { close(std::unique_ptr<Link>(link)); }
};
using OwnedLink = std::unique_ptr<Link, Close>;

}  // namespace hocket::comm

// SPDX-License-Identifier: BSD-3-Clause
// The end of a link. MPI gives the context of a communicator that was freed to a later one, and
// what was sent on the first and never received reaches the second, or ends the program where the
// second has fewer processes (Open MPI). So a communicator is freed once all its processes have
// closed it and each message on it has been received; one with messages left is never freed.
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

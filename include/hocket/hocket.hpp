// SPDX-License-Identifier: BSD-3-Clause
// All headers of hocket for C++. Programs may include each one alone; only mpi.hpp includes
// <mpi.h>.
#pragma once

#include "hocket/array.hpp"
#include "hocket/comm.hpp"
#include "hocket/computing.hpp"
#include "hocket/error.hpp"
#include "hocket/flow.hpp"
#include "hocket/halo.hpp"
#include "hocket/kernel.hpp"
#include "hocket/layout.hpp"
#include "hocket/log.hpp"
#include "hocket/mask.hpp"
#include "hocket/memory.hpp"
#include "hocket/mpi.hpp"
#include "hocket/observer.hpp"
#include "hocket/operation.hpp"
#include "hocket/plan.hpp"
#include "hocket/port.hpp"
#include "hocket/region.hpp"
#include "hocket/remap.hpp"
#include "hocket/rows.hpp"
#include "hocket/step.hpp"
#include "hocket/task.hpp"
#include "hocket/team.hpp"
#include "hocket/transfer.hpp"
#include "hocket/version.h"

// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/stopwatch.hpp"

namespace hocket::transfer {

const char* Stopwatch::name_of(double Profile::*step) {
    if (step == &Profile::inquiry) return "inquiry";
    if (step == &Profile::call) return "call";
    if (step == &Profile::descriptor) return "descriptor";
    if (step == &Profile::schedule) return "schedule";
    return step == &Profile::pack ? "pack" : "move";
}

}  // namespace hocket::transfer

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hocket/hocket.h"
#include "hocket/transfer.hpp"

namespace hocket::c {

inline Profile profile_of(const hocket_profile& given) {
    return {given.inquiry, given.call, given.descriptor, given.schedule, given.pack, given.move};
}
inline hocket_profile profile_of(const Profile& found) {
    return {found.inquiry, found.call, found.descriptor, found.schedule, found.pack, found.move};
}
inline void add(hocket_profile& sum, const Profile& more) {
    Profile total = profile_of(sum);
    total += more;
    sum = profile_of(total);
}

}  // namespace hocket::c

// SPDX-License-Identifier: BSD-3-Clause
#include "team/call.hpp"

#include "team/fold.hpp"

namespace hocket::team {

Header Header::unpacked(std::uint64_t word) {
    Header header;
    header.op = static_cast<Op>(word & 0xff);
    header.type = static_cast<Type>(word >> 8U & 0xf);
    header.narrow = static_cast<int>(word >> 12U & 0xff);
    header.bytes = static_cast<std::size_t>(word >> 20U & 0x3ff);
    header.refused = (word >> 30U & 1U) != 0;
    header.group = static_cast<std::uint32_t>(word >> 32U);
    return header;
}

std::string Header::text() const {
    std::string out = name_of(op);
    if (op == Op::reduce) return out + " of " + std::to_string(bytes) + " bytes";
    const bool typed = op != Op::wait && op != Op::waitvec && op != Op::any && op != Op::all &&
                       op != Op::vote && op != Op::vote_count && op != Op::start;
    if (typed) out += std::string(" of ") + name_of(type);
    if (narrow != 0) out += " with bits=" + std::to_string(narrow);
    return out;
}

std::string Mismatch::text() const {
    const Header a = Header::unpacked(low), b = Header::unpacked(high);
    const std::string one = "process " + std::to_string(low_process);
    const std::string other = "process " + std::to_string(high_process);
    if (groups_differ())
        return "the processes of a team disagree on who it is: " + one + " calls " + a.text() +
               " and " + other + " calls " + b.text() +
               " on teams of different processes; enqueue the same mask on both, and use common "
               "operations in the same order";
    if (a.refused || b.refused) {
        const Header& wrong = a.refused ? a : b;
        return (a.refused ? one : other) + " of the team calls " + name_of(wrong.op) +
               " with invalid arguments; the error of that process names the cause";
    }
    return "the processes of a team disagree: " + one + " calls " + a.text() + ", but " + other +
           " calls " + b.text() + "; make the same call everywhere";
}

}  // namespace hocket::team

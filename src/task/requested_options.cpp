// SPDX-License-Identifier: BSD-3-Clause
#include "task/requested_options.hpp"

#include "hocket/error.hpp"
#include "plan/routing.hpp"

namespace hocket::task {
namespace {

// Combines one option of both sides: `open` means not set.
template <class Value, class Report>
Value either(const Value& sender, const Value& receiver, const Value& open, Report report) {
    if (sender != open && receiver != open && sender != receiver) report(sender, receiver);
    return sender != open ? sender : receiver;
}

}  // namespace

void RequestedOptions::pack(Packer& out) const {
    out.text(strategy).number(stages).number(pieces).text(model);
}

RequestedOptions RequestedOptions::unpacked(Unpacker& in) {
    RequestedOptions requested;
    requested.strategy = in.text();
    requested.stages = in.number();
    requested.pieces = in.number();
    requested.model = in.text();
    return requested;
}

std::string RequestedOptions::text() const {
    std::string out;
    if (strategy != "auto") out += ", strategy='" + strategy + "'";
    if (stages != 0) out += ", stages=" + std::to_string(stages);
    if (pieces != 0) out += ", pieces=" + std::to_string(pieces);
    return out;
}

void RequestedOptions::check(std::size_t arrays) const {
    const auto named = plan::strategy_of(strategy);
    // The limit of stages depends on both sides' processes.
    if (stages != 0) plan::check_stages(named, stages, stages < 0 ? 1 : stages, 1);
    if (pieces < 0)
        throw Error("pieces=" + std::to_string(pieces) +
                    ": an array travels in 1 piece or more; leave it out for one");
    if (pieces > 1 && arrays > 1)
        throw Error("pieces=" + std::to_string(pieces) + " of a message of " +
                    std::to_string(arrays) +
                    " arrays: only one array travels in pieces; send the arrays one by one");
}

std::string model_text(const RequestedOptions& requested) {
    if (requested.strategy != "auto") return "";
    const plan::Model& model = plan::Model::kept();
    return model == plan::Model{} ? "" : model.text();
}

RequestedOptions negotiate(const RequestedOptions& sender, const std::string& sender_name,
                           const RequestedOptions& receiver, const std::string& receiver_name) {
    const auto differ = [&](const std::string& a, const std::string& b) {
        throw MismatchError(sender_name + " sends with " + a + ", but " + receiver_name +
                            " receives with " + b +
                            "; name the same on both sides, or leave it out on one");
    };
    RequestedOptions requested = sender;
    requested.strategy = either<std::string>(
        sender.strategy, receiver.strategy, "auto", [&](const auto& a, const auto& b) {
            differ("strategy '" + a + "'", "strategy '" + b + "'");
        });
    const auto number = [&](const char* name, std::int64_t a, std::int64_t b) {
        return either<std::int64_t>(a, b, 0, [&](std::int64_t x, std::int64_t y) {
            differ(std::string(name) + "=" + std::to_string(x),
                   std::string(name) + "=" + std::to_string(y));
        });
    };
    requested.stages = number("stages", sender.stages, receiver.stages);
    requested.pieces = number("pieces", sender.pieces, receiver.pieces);
    return requested;
}

}  // namespace hocket::task

// SPDX-License-Identifier: BSD-3-Clause
// Coroutines as steps.
#include <utility>

#include "comm/polled.hpp"
#include "comm/protocol.hpp"
#include "flow/waits.hpp"
#include "hocket/binding.hpp"
#include "hocket/flow_body.hpp"

namespace hocket::flow {
namespace {

class SuspendedCoroutine final : public Suspended {
  public:
    explicit SuspendedCoroutine(Coroutine<> coroutine) : driven_(std::move(coroutine)) {}
    bool ready() override { return driven_.ready(); }
    bool resume() override {
        driven_.resume();
        if (!driven_.done()) return false;
        driven_.take();
        return true;
    }
    std::string text() const override {
        return driven_.blocked() == nullptr ? "its next part" : driven_.blocked()->text();
    }

  private:
    bool leave_awaited() override {
        return driven_.blocked() == nullptr || driven_.blocked()->leave();
    }
    comm::Driven<void> driven_;
};

}  // namespace

std::shared_ptr<Suspended> suspended(Coroutine<> coroutine) {
    return std::make_shared<SuspendedCoroutine>(std::move(coroutine));
}

const void* running_step() {
    return thread_context().step;
}

std::string running_step_text() {
    const Step* const step = thread_context().step;
    return step == nullptr ? "" : step->text();
}

void complete(const Operations& started) {
    for (const auto& operation : started) {
        if (operation == nullptr) continue;
        auto* const rest = dynamic_cast<Suspended*>(operation.get());
        if (rest == nullptr) {
            wait(*operation);
            continue;
        }
        comm::FunctionOperation ready([&] { return rest->ready(); }, [&] { return rest->text(); });
        while (!rest->resume()) wait(ready);
    }
}

}  // namespace hocket::flow

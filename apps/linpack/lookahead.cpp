// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "modes.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

class Lookahead {
  public:
    Lookahead(const Matrix& matrix, const Options& options)
        : matrix_(matrix), options_(options), found_(matrix), panel_(matrix), next_(matrix) {}

    Factored run() {
        begin(panel_, 0);
        for (std::int64_t k = 0; k < matrix_.panels(); ++k) {
            end();
            found_.keep(panel_);
            auto columns = right_of(matrix_, k, options_.width);
            const bool more = k + 1 < matrix_.panels();
            const bool mine =
                more && matrix_.column_owner((k + 1) * matrix_.nb()) == matrix_.grid().column();
            if (mine) {
                change(columns.front());
                columns.erase(columns.begin());
            }
            if (more) begin(next_, k + 1);
            for (const Columns& part : columns) {
                change(part);
                advance();
            }
            std::swap(panel_, next_);
            if (coming_ == &next_) coming_ = &panel_;
        }
        end();
        return std::move(found_);
    }

  private:
    // Factors the panel and sends it, or starts to receive it.
    void begin(Panel& panel, std::int64_t step) {
        wait(going_);
        panel.open(step, found_.order);
        if (panel.mine()) {
            factor(matrix_, panel, found_.order);
            going_ = pass_on(matrix_, panel);
        } else {
            coming_ = &panel;
            receiving_ = receive(matrix_, panel);
        }
    }
    // If the panel has arrived, sends it on at once. Messages move only in such calls.
    void advance() {
        for (auto& request : going_) request.test();
        if (coming_ == nullptr || !receiving_.test()) return;
        going_ = pass_on(matrix_, *coming_);
        coming_ = nullptr;
    }
    void end() {
        if (coming_ != nullptr) {
            receiving_.wait();
            going_ = pass_on(matrix_, *coming_);
            coming_ = nullptr;
        }
        wait(going_);
    }
    void change(const Columns& columns) {
        Swap swap(matrix_, panel_, columns);
        swap.gather();
        wait(swap.start(tag_of(matrix_, panel_, columns)));
        update(matrix_, panel_, swap);
    }

    const Matrix& matrix_;
    const Options& options_;
    Factored found_;
    Panel panel_, next_;
    Panel* coming_ = nullptr;
    hocket::Request receiving_;
    std::vector<hocket::Request> going_;
};

}  // namespace

Factored lookahead(const Matrix& matrix, const Options& options) {
    return Lookahead(matrix, options).run();
}

}  // namespace linpack

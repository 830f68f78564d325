// SPDX-License-Identifier: BSD-3-Clause
// High-Performance LINPACK: the solution of a dense system by LU with partial pivoting, on a 2-D
// block-cyclic layout (Dongarra, Luszczek and Petitet, "The LINPACK Benchmark: Past, Present and
// Future"), in the forms of Marjanovic, Labarta, Ayguade and Valero, "Effective Communication and
// Computation Overlap with Hybrid MPI/SMPSs".
#include <algorithm>
#include <cstdlib>
#include <map>

#include "../model.hpp"
#include "../program.hpp"
#include "modes.hpp"
#include "solution.hpp"

namespace {

using Form = linpack::Factored (*)(const linpack::Matrix&, const linpack::Options&);

const std::map<std::string, Form> forms = {
    {"plain", linpack::plain}, {"lookahead", linpack::lookahead}, {"flow", linpack::flow}};

// More elements are not touched before: then the system takes little of the time.
constexpr std::int64_t most_touched = 1 << 17;

// The solutions' working memory, which hocket and BLAS keep, is the system's to give at the first
// touch: in a small system that would take a third of the time.
void touch_memory(const linpack::Matrix& matrix, const linpack::Options& options) {
    if (apps::simulated) return;
    std::vector<linpack::Panel> panels;
    std::vector<hocket::Array> rooms;
    for (int i = 0; i < 3; ++i) panels.emplace_back(matrix).touch();
    const linpack::Block all = matrix.local();
    const std::int64_t nb = matrix.nb(), most = std::max<std::int64_t>(most_touched / nb, 1),
                       columns = std::min({options.width, all.columns, most});
    for (std::int64_t elements = nb * columns; elements > linpack::usual_room; elements /= 2)
        for (int i = 0; i < 6; ++i) rooms.push_back(matrix.grid().room(elements));
    for (int i = 0; i < 24; ++i) rooms.push_back(matrix.grid().room(linpack::usual_room));
    for (auto& room : rooms) std::ranges::fill(room.local<double>(), 0.0);
    // A product of the usual shape, for BLAS' memory; the matrix is not filled yet.
    const linpack::Block product = all.part(0, 0, all.rows, columns);
    for (std::int64_t j = 0; j < columns; ++j) std::fill_n(&product.at(0, j), product.rows, 0.0);
    std::vector<double> left(static_cast<std::size_t>(product.rows * nb)),
        right(static_cast<std::size_t>(nb * columns));
    linpack::subtract_product({left.data(), product.rows, nb, product.rows},
                              {right.data(), nb, columns, nb}, product);
}

// Processes agree on their persistent messages before the measured time: those of whole panels, of
// the last one, and of the solution.
void connect(const linpack::Matrix& matrix) {
    const linpack::Grid& grid = matrix.grid();
    linpack::connect(grid, matrix.nb());
    linpack::connect(grid, matrix.n() - (matrix.panels() - 1) * matrix.nb());
    grid.sharing(matrix.nb(), 1).exchange();
    linpack::RowSum& sum = grid.row_sum(matrix.nb());
    for (int column = 0; column < grid.columns(); ++column) {
        sum.start(column);
        sum.finish();
    }
}

// The first solution of a process takes longer: BLAS makes its memory, and hocket and the forms
// touch theirs. So each form solves a small system before; but not in a trace, which has the whole
// process's messages.
void warm_up(const linpack::Grid& grid, const hocket::Comm& everyone, Form form, std::int64_t n,
             std::int64_t nb, const linpack::Options& options) {
    if (apps::simulated || std::getenv("HOCKET_TRACE") != nullptr) return;
    const linpack::Matrix matrix(grid, everyone, std::min(n, 4 * nb), nb);
    matrix.fill({1, false, matrix.n()});
    const linpack::Factored factored = form(matrix, options);
    if (factored.singular < 0) linpack::solve(matrix, factored);
}

struct Outcome {
    std::vector<double> seconds;
    double residual = 0;
    std::vector<std::int64_t> pivots;
};

void body(apps::Program& program) {
    const auto& asked = program.parameters;
    const std::int64_t n = asked.whole("n", 1), nb = asked.whole("nb", 1);
    const auto shape = asked.wholes("grid");
    if (shape.size() != 2) throw hocket::Error("grid=" + asked.text("grid") + ": give two numbers");
    // For all modes, or one for each.
    const auto modes = asked.words("modes");
    const auto widths = asked.wholes("width");
    if (widths.empty() || (widths.size() > 1 && widths.size() != modes.size()) ||
        std::ranges::min(widths) < 1)
        throw hocket::Error("width=" + asked.text("width") +
                            ": give one number from 1, or one for each mode");
    linpack::Options options{std::ranges::max(widths), static_cast<int>(asked.whole("workers", 1))};
    // In a small system, a panel arrives while few rows are updated.
    options.piece.rows = std::clamp<std::int64_t>(n / 4, 1, options.piece.rows);
    // If one number stands for many, a piece has fewer of them, and so has a message.
    if (asked.has("piece_rows"))
        options.piece = {asked.whole("piece_rows", 1), asked.whole("piece_columns", 1), 1};
    const linpack::Elements elements{static_cast<std::uint64_t>(asked.whole("seed")),
                                     asked.flag("singular"), n,
                                     asked.has("steps") ? asked.whole("steps", 1) : 0};
    linpack::use_one_thread();
    const std::int64_t before = apps::peak_bytes();
    const linpack::Grid grid(program.everyone, static_cast<int>(shape[0]),
                             static_cast<int>(shape[1]),
                             asked.has("search_width") ? asked.whole("search_width", 1) : 64);
    const linpack::Matrix matrix(grid, program.everyone, n, nb);

    touch_memory(matrix, options);
    connect(matrix);

    std::map<std::string, Outcome> outcomes;
    for (std::int64_t run = 0; run < asked.whole("runs", 1); ++run) {
        for (std::size_t m = 0; m < modes.size(); ++m) {
            const auto& mode = modes[m];
            options.width = widths[widths.size() > 1 ? m : 0];
            const auto form = forms.find(mode);
            if (form == forms.end()) throw hocket::Error("modes=" + mode + ": there is no such");
            Outcome& outcome = outcomes[mode];
            if (run == 0) warm_up(grid, program.everyone, form->second, n, nb, options);
            linpack::Factored factored(matrix);
            std::vector<double> x;
            matrix.fill(elements);
            outcome.seconds.push_back(apps::timed(program.everyone, [&] {
                factored = form->second(matrix, options);
                if (factored.singular < 0) x = linpack::solve(matrix, factored);
            }));
            if (factored.singular >= 0)
                throw hocket::Error("the matrix is singular: column " +
                                    std::to_string(factored.singular) +
                                    " has no pivot that is not 0, so the system has no single "
                                    "solution; take another matrix");
            outcome.residual = std::max(outcome.residual,
                                        linpack::residual(matrix, elements, x, program.everyone));
            outcome.pivots = std::move(factored.pivots);
        }
    }
    apps::Report reports;
    for (const auto& [mode, outcome] : outcomes) {
        apps::Report one;
        one.add("seconds", std::span<const double>(outcome.seconds));
        one.add("residual", outcome.residual);
        if (asked.flag("pivots")) one.add("pivots", std::span<const std::int64_t>(outcome.pivots));
        reports.add(mode, one);
    }
    program.report.add("modes", reports);
    const double grown[] = {static_cast<double>(apps::peak_bytes() - before)};
    program.report.add("peak_bytes", apps::maximum(program.everyone, grown)[0]);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}

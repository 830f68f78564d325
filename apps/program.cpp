// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>

#include "hocket/array.hpp"
#include "hocket/mpi.hpp"
#include "hocket/transfer.hpp"
#include "model.hpp"

namespace apps {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            out += code;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

// JSON has no NaN and no infinity.
std::string spelled(double value) {
    if (!std::isfinite(value)) return "null";
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string spelled(std::int64_t value) {
    return std::to_string(value);
}

std::string spelled(const Report& value) {
    return value.json();
}

template <class T>
std::string spelled(std::span<const T> values) {
    std::string out = "[";
    for (std::size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + spelled(values[i]);
    return out + "]";
}

}  // namespace

void Report::add(const std::string& name, double value) {
    entries_.emplace_back(name, spelled(value));
}
void Report::add(const std::string& name, std::int64_t value) {
    entries_.emplace_back(name, spelled(value));
}
void Report::add(const std::string& name, const std::string& value) {
    entries_.emplace_back(name, quoted(value));
}
void Report::add(const std::string& name, std::span<const double> values) {
    entries_.emplace_back(name, spelled(values));
}
void Report::add(const std::string& name, std::span<const std::int64_t> values) {
    entries_.emplace_back(name, spelled(values));
}
void Report::add(const std::string& name, const Report& inner) {
    entries_.emplace_back(name, inner.json());
}
void Report::add(const std::string& name, std::span<const Report> inner) {
    entries_.emplace_back(name, spelled(inner));
}

std::string Report::json() const {
    std::string out = "{";
    for (const auto& [name, value] : entries_)
        out += (out.size() > 1 ? ", " : "") + quoted(name) + ": " + value;
    return out + "}";
}

void settle(const hocket::Comm& comm) {
    static_cast<void>(hocket::tell(comm, "", 0));
}

double now() {
#ifdef HOCKET_SIMULATED
    return simulated_now();
#else
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
#endif
}

double timed(const hocket::Comm& comm, const std::function<void()>& step) {
    settle(comm);
    const double begun = now();
    step();
    const double mine[] = {now() - begun};
    return maximum(comm, mine)[0];
}

std::int64_t peak_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::int64_t kibibytes = 0;
        if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

std::vector<double> maximum(const hocket::Comm& comm, std::span<const double> mine) {
    const auto width = static_cast<std::int64_t>(mine.size()), size = std::int64_t{comm.size()};
    const hocket::Layout parts({size, width}, "(BLOCK, *)", {size});
    const hocket::Layout copies({size, width}, "(*, *)", {size}, std::vector<std::int64_t>{0});
    const auto type = hocket::dtype_of<double>();
    const auto own = hocket::Array::empty(parts, type, comm);
    const auto all = hocket::Array::empty(copies, type, comm);
    std::copy(mine.begin(), mine.end(), own.local<double>().begin());
    hocket::redistribute(own, all);
    std::vector<double> most(mine.begin(), mine.end());
    const auto table = all.local<double>();
    for (std::size_t i = 0; i < table.size(); ++i)
        most[i % mine.size()] = std::max(most[i % mine.size()], table[i]);
    return most;
}

void compare(Program& program, std::span<const Form> forms, const std::string& unit,
             std::int64_t parts) {
    std::vector<std::vector<double>> seconds(forms.size());
    for (std::int64_t i = 0; i < program.parameters.whole("runs"); ++i)
        for (std::size_t f = 0; f < forms.size(); ++f)
            seconds[f].push_back(timed(program.everyone, forms[f].run) /
                                 static_cast<double>(parts));
    Report all;
    for (std::size_t f = 0; f < forms.size(); ++f) {
        Report one = forms[f].figures;
        one.add(unit, seconds[f]);
        all.add(forms[f].name, one);
    }
    program.report.add("forms", all);
}

int run(int argc, char** argv, const std::function<void(Program&)>& body) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    try {
        Program program{Parameters(argc, argv), hocket::Comm::world(), {}};
#ifdef HOCKET_SIMULATED
        const auto& given = program.parameters;
        use_model(given.text("model"), given.text("model_of_step"));
        if (given.has("coarse") && given.whole("coarse", 1) > 1) use_coarse();
        if (given.has("noise_every"))
            use_noise(given.real("noise_every"), given.real("noise_lasts"),
                      1 + static_cast<std::uint64_t>(program.rank()));
#endif
        program.report.add("mpi", hocket::mpi_library());
        program.report.add("ranks", std::int64_t{program.size()});
        body(program);
        if (program.rank() == 0) std::printf("%s\n", program.report.json().c_str());
    } catch (const std::exception& problem) {
        // The launcher ends the other processes, which may wait for this one.
        std::fprintf(stderr, "error: %s\n", problem.what());
        std::fflush(nullptr);
        std::_Exit(1);
    }
    MPI_Finalize();
    return 0;
}

}  // namespace apps

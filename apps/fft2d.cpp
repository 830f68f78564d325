// SPDX-License-Identifier: BSD-3-Clause
// The 2-D FFT of a stream of images: data-parallel, and as a pipeline of two tasks. Figures 1, 3
// and 8 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to
// HPF via the Message Passing Interface".
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "fft_parallel.hpp"
#include "files.hpp"
#include "hocket/flow.hpp"
#include "hocket/plan.hpp"
#include "hocket/task.hpp"
#include "images.hpp"
#include "port.hpp"
#include "program.hpp"

namespace {

using apps::Complex;
using hocket::Array;
using hocket::Layout;

constexpr int tag = 99;

struct Asked {
    hocket::Shape image;
    std::int64_t frames;
    std::string input, folder;  // folder "": results are discarded
};

// Figure 1: every process works on every image. The spectrum comes out transposed.
class DataParallel {
  public:
    DataParallel(const Asked& asked, const hocket::Comm& everyone)
        : fft_(asked.image, everyone),
          images_(asked.input, asked.frames, fft_.rows(), everyone.rank()),
          a_(Array::empty(fft_.rows(), hocket::dtype_of<Complex>(), everyone)),
          b_(Array::empty(fft_.turned(), hocket::dtype_of<Complex>(), everyone)) {}

    void transform(std::int64_t number) {
        images_.read(number, a_.local<Complex>());
        fft_.forward(a_, b_);
    }

    const Array& result() const { return b_; }
    std::int64_t messages() const { return fft_.messages(); }

  private:
    apps::ParallelFft fft_;
    apps::Images images_;
    Array a_, b_;
};

// Figure 3: task rows transforms rows and sends, task cols receives and transforms columns, while
// rows is at the next image.
class Pipeline {
  public:
    Pipeline(const Asked& asked, const hocket::Comm& everyone, bool persistent)
        : world_(tasks(everyone)),
          first_(world_.rank() == 0),
          rows_(asked.image, "(BLOCK, *)", {everyone.size() / 2}),
          cols_(asked.image, "(*, BLOCK)", {everyone.size() - everyone.size() / 2}),
          along_(first_ ? asked.image[1] : asked.image[0]),
          port_(world_, first_ ? apps::Port::Way::out : apps::Port::Way::in, first_ ? 1 : 0, tag,
                slots(), persistent) {
        if (first_) images_.emplace(asked.input, asked.frames, rows_, world_.comm().rank());
    }

    /// The whole stream; `take(array)` gets each spectrum on task cols.
    template <class Take>
    void run(std::int64_t frames, Take take) {
        if (first_) {
            for (std::int64_t number = 0; number < frames; ++number) {
                port_.free_slot(number);
                const auto lines = port_.array(number).local<Complex>();
                images_->read(number, lines);
                along_.forward(lines);
                port_.start(number);
            }
            port_.finish_last(frames);
            return;
        }
        port_.start_first(frames);
        for (std::int64_t number = 0; number < frames; ++number) {
            port_.finish(number);
            along_.forward(columns_[static_cast<std::size_t>(number % 2)]);
            take(port_.array(number));
            port_.used(number, frames);
        }
    }

    /// The tasks as flows: the accesses of the steps determine their order.
    template <class Take>
    void flow(std::int64_t frames, Take take) {
        hocket::FlowOptions options;
        options.workers = 1;
        hocket::Flow flow(options);
        for (std::int64_t number = 0; number < frames; ++number) {
            const Array& array = port_.array(number);
            if (first_) {
                flow.task(
                    [this, &array, number] {
                        images_->read(number, array.local<Complex>());
                        along_.forward(array.local<Complex>());
                    },
                    {hocket::writes(array)});
                port_.travel(flow, number);
            } else {
                port_.travel(flow, number);
                flow.task(
                    [this, &array, &take, number] {
                        along_.forward(columns_[static_cast<std::size_t>(number % 2)]);
                        take(array);
                    },
                    {hocket::updates(array), hocket::updates(hocket::Region::key("spectra"))});
            }
        }
        flow.wait();
    }

    std::int64_t messages() const {
        hocket::plan::Options options;
        options.itemsize = sizeof(Complex);
        return hocket::Plan(rows_, cols_, options).message_count();
    }

  private:
    static hocket::Tasks tasks(const hocket::Comm& everyone) {
        const std::int64_t half = everyone.size() / 2;
        const std::vector<hocket::TaskRequest> names{{"rows", half},
                                                     {"cols", everyone.size() - half}};
        return hocket::Tasks(names, everyone);
    }
    std::vector<Array> slots() {
        const auto here = world_.comm();
        const auto type = hocket::dtype_of<Complex>();
        if (first_) return {Array::empty(rows_, type, here), Array::empty(rows_, type, here)};
        // Columns are contiguous in memory, because the receive transposes.
        const auto local = cols_.local_shape(here.rank());
        std::vector<Array> made;
        for (auto& columns : columns_) {
            columns.resize(static_cast<std::size_t>(local[0] * local[1]));
            made.push_back(Array::wrap(columns.data(), cols_, type, here,
                                       hocket::Shape{type.size, local[0] * type.size}));
        }
        return made;
    }

    hocket::Tasks world_;
    bool first_;
    Layout rows_, cols_;
    apps::Fft along_;
    std::array<std::vector<Complex>, 2> columns_;
    apps::Port port_;
    std::optional<apps::Images> images_;
};

// Processes so many images, and writes their spectra to a file, unless its name is "".
using Run = std::function<void(std::int64_t, const std::string&)>;

Run data_parallel(const Asked& asked, const hocket::Comm& everyone, std::int64_t& messages) {
    const auto form = std::make_shared<DataParallel>(asked, everyone);
    messages = form->messages();
    return [form](std::int64_t frames, const std::string& file) {
        for (std::int64_t number = 0; number < frames; ++number) {
            form->transform(number);
            if (!file.empty()) apps::append(file, form->result());
        }
    };
}

Run pipeline(const Asked& asked, const hocket::Comm& everyone, const std::string& name,
             std::int64_t& messages) {
    const auto form = std::make_shared<Pipeline>(asked, everyone, name == "persistent");
    messages = form->messages();
    return [form, name](std::int64_t frames, const std::string& file) {
        const auto take = [&](const Array& spectrum) {
            if (!file.empty()) apps::append(file, spectrum);
        };
        if (name == "flow")
            form->flow(frames, take);
        else
            form->run(frames, take);
    };
}

void body(apps::Program& program) {
    const auto& given = program.parameters;
    const Asked asked{{given.whole("rows", 1), given.whole("cols", 1)},
                      given.whole("frames", 1),
                      given.text("input"),
                      given.text("results")};
    std::vector<apps::Form> forms;
    std::vector<Run> runs;
    for (const auto& name : given.words("forms")) {
        std::int64_t messages = 0;
        const Run run =
            runs.emplace_back(name == "data" ? data_parallel(asked, program.everyone, messages)
                                             : pipeline(asked, program.everyone, name, messages));
        forms.push_back({name, [run, frames = asked.frames] { run(frames, ""); }});
        forms.back().figures.add("messages_per_image", messages);
    }
    for (std::size_t f = 0; f < forms.size(); ++f) {  // warm-up, whose results are checked
        const auto file = asked.folder.empty() ? "" : asked.folder + "/" + forms[f].name;
        runs[f](asked.folder.empty() ? 1 : asked.frames, file);
    }
    apps::compare(program, forms, "seconds_per_image", asked.frames);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}

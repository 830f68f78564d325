// SPDX-License-Identifier: BSD-3-Clause
// The convolution of two streams of images: two forward 2-D FFTs, a product, an inverse one.
// Figures 9 and 10 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task
// Parallelism to HPF via the Message Passing Interface".
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "fft_parallel.hpp"
#include "files.hpp"
#include "hocket/flow.hpp"
#include "images.hpp"
#include "model.hpp"
#include "port.hpp"
#include "program.hpp"

namespace {

using apps::Complex;
using apps::ParallelFft;
using apps::Port;
using hocket::Array;

struct Asked {
    hocket::Shape image;
    std::int64_t frames;
    std::string inputs[2];
    std::vector<std::int64_t> sizes;  // processes of the four tasks
};

void multiply(std::span<const Complex> factor, std::span<Complex> into) {
    if (apps::modelled(apps::Work::product, static_cast<double>(into.size()))) return;
    for (std::size_t i = 0; i < into.size(); ++i) into[i] *= factor[i];
}

using Take = std::function<void(const Array&)>;  // gets each result, on the processes that have it

// All processes do all steps, image by image.
class DataParallel {
  public:
    DataParallel(const Asked& asked, const hocket::Comm& everyone)
        : fft_(asked.image, everyone),
          frames_(asked.frames),
          streams_{{asked.inputs[0], frames_, fft_.rows(), everyone.rank()},
                   {asked.inputs[1], frames_, fft_.rows(), everyone.rank()}},
          image_(Array::empty(fft_.rows(), hocket::dtype_of<Complex>(), everyone)) {
        for (int i = 0; i < 2; ++i)
            spectra_.push_back(Array::empty(fft_.turned(), hocket::dtype_of<Complex>(), everyone));
    }

    void run(const Take& take) {
        for (std::int64_t number = 0; number < frames_; ++number) {
            for (std::size_t i = 0; i < 2; ++i) {
                streams_[i].read(number, image_.local<Complex>());
                fft_.forward(image_, spectra_[i]);
            }
            multiply(spectra_[1].local<Complex>(), spectra_[0].local<Complex>());
            fft_.backward(spectra_[0], image_);
            take(image_);
        }
    }

    std::int64_t messages() const { return 3 * fft_.messages(); }

  private:
    ParallelFft fft_;
    std::int64_t frames_;
    apps::Images streams_[2];
    Array image_;
    std::vector<Array> spectra_;
};

// Each block of Figure 9 is a task: 0 and 1 transform a stream each, 2 multiplies, 3 transforms
// back. All four work at the same time, on different images.
class TaskParallel {
  public:
    TaskParallel(const Asked& asked, const hocket::Comm& everyone, bool persistent)
        : frames_(asked.frames), world_(tasks(asked, everyone)), fft_(asked.image, world_.comm()) {
        const auto port = [&](Port::Way way, int peer) {
            std::vector<Array> slots;
            for (int i = 0; i < 2; ++i)
                slots.push_back(
                    Array::empty(fft_.turned(), hocket::dtype_of<Complex>(), world_.comm()));
            return std::make_unique<Port>(world_, way, peer, std::min(peer, world_.rank()),
                                          std::move(slots), persistent);
        };
        const int me = world_.rank();
        if (me != 2)
            image_.emplace(Array::empty(fft_.rows(), hocket::dtype_of<Complex>(), world_.comm()));
        if (me < 2) {
            stream_.emplace(asked.inputs[me], frames_, fft_.rows(), world_.comm().rank());
            out_ = port(Port::Way::out, 2);
        } else if (me == 2) {
            in_[0] = port(Port::Way::in, 0);
            in_[1] = port(Port::Way::in, 1);
            out_ = port(Port::Way::out, 3);
        } else {
            in_[0] = port(Port::Way::in, 2);
        }
    }

    void run(const Take& take) {
        if (world_.rank() < 2)
            transform();
        else if (world_.rank() == 2)
            product();
        else
            transform_back(take);
    }

    /// The tasks as flows: the accesses of the steps determine their order.
    void flow(const Take& take) {
        using hocket::reads, hocket::writes;
        hocket::FlowOptions options;
        options.workers = 1;
        hocket::Flow flow(options);
        // Transpositions are collective calls of the task, so all processes make them in one order.
        const auto turn = hocket::updates(hocket::Region::key("transposition"));
        for (std::int64_t number = 0; number < frames_; ++number) {
            for (const auto& in : in_)
                if (in) in->travel(flow, number);
            if (stream_)
                flow.task(
                    [this, number] {
                        stream_->read(number, image_->local<Complex>());
                        fft_.forward(*image_, out_->array(number));
                    },
                    {turn, writes(out_->array(number))});
            else if (out_)
                flow.task([this, number] { multiply_into(number); },
                          {reads(in_[0]->array(number)), reads(in_[1]->array(number)),
                           writes(out_->array(number))});
            else
                flow.task(
                    [this, &take, number] {
                        fft_.backward(in_[0]->array(number), *image_);
                        take(*image_);
                    },
                    {turn, hocket::updates(in_[0]->array(number))});
            if (out_) out_->travel(flow, number);
        }
        flow.wait();
    }

    /// Of an image: transpositions within tasks, and arrays between tasks.
    static std::int64_t messages(const Asked& asked) {
        std::int64_t count = 0;
        const auto turned = [&](std::size_t task) {
            return hocket::Layout({asked.image[1], asked.image[0]}, "(BLOCK, *)",
                                  {asked.sizes[task]});
        };
        for (const std::size_t task : std::array<std::size_t, 3>{0, 1, 3}) {
            const hocket::Layout rows(asked.image, "(BLOCK, *)", {asked.sizes[task]});
            hocket::plan::Options options;
            options.axes = {1, 0};
            options.itemsize = sizeof(Complex);
            for (std::int64_t r = 0; r < rows.size(); ++r) options.overlap.push_back(r);
            count += hocket::Plan(rows, turned(task), options).message_count();
        }
        hocket::plan::Options options;
        options.itemsize = sizeof(Complex);
        for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 2}, {1, 2}, {2, 3}})
            count += hocket::Plan(turned(from), turned(to), options).message_count();
        return count;
    }

  private:
    static hocket::Tasks tasks(const Asked& asked, const hocket::Comm& everyone) {
        const std::vector<hocket::TaskRequest> names{{"first", asked.sizes[0]},
                                                     {"second", asked.sizes[1]},
                                                     {"product", asked.sizes[2]},
                                                     {"inverse", asked.sizes[3]}};
        return hocket::Tasks(names, everyone);
    }

    void transform() {
        for (std::int64_t number = 0; number < frames_; ++number) {
            out_->free_slot(number);
            stream_->read(number, image_->local<Complex>());
            fft_.forward(*image_, out_->array(number));
            out_->start(number);
        }
        out_->finish_last(frames_);
    }
    void product() {
        for (auto& in : in_) in->start_first(frames_);
        for (std::int64_t number = 0; number < frames_; ++number) {
            out_->free_slot(number);
            for (auto& in : in_) in->finish(number);
            multiply_into(number);
            for (auto& in : in_) in->used(number, frames_);
            out_->start(number);
        }
        out_->finish_last(frames_);
    }
    void multiply_into(std::int64_t number) {
        const auto first = in_[0]->array(number).local<Complex>();
        const auto result = out_->array(number).local<Complex>();
        std::copy(first.begin(), first.end(), result.begin());
        multiply(in_[1]->array(number).local<Complex>(), result);
    }
    void transform_back(const Take& take) {
        in_[0]->start_first(frames_);
        for (std::int64_t number = 0; number < frames_; ++number) {
            in_[0]->finish(number);
            fft_.backward(in_[0]->array(number), *image_);
            in_[0]->used(number, frames_);
            take(*image_);
        }
    }

    std::int64_t frames_;
    hocket::Tasks world_;
    ParallelFft fft_;
    std::optional<apps::Images> stream_;
    std::optional<Array> image_;
    std::unique_ptr<Port> in_[2], out_;
};

using Run = std::function<void(const Take&)>;

Run run_of(const std::string& name, const Asked& asked, const hocket::Comm& everyone,
           std::int64_t& messages) {
    if (name == "data") {
        const auto form = std::make_shared<DataParallel>(asked, everyone);
        messages = form->messages();
        return [form](const Take& take) { form->run(take); };
    }
    const auto form = std::make_shared<TaskParallel>(asked, everyone, name == "persistent");
    messages = TaskParallel::messages(asked);
    return [form, flow = name == "flow"](const Take& take) {
        flow ? form->flow(take) : form->run(take);
    };
}

void body(apps::Program& program) {
    const auto& given = program.parameters;
    const Asked asked{{given.whole("rows", 1), given.whole("cols", 1)},
                      given.whole("frames", 1),
                      {given.text("first"), given.text("second")},
                      given.wholes("sizes")};
    const std::string folder = given.text("results");
    std::vector<apps::Form> forms;
    std::vector<Run> runs;
    for (const auto& name : given.words("forms")) {
        std::int64_t messages = 0;
        const Run run = runs.emplace_back(run_of(name, asked, program.everyone, messages));
        forms.push_back({name, [run] { run([](const Array&) {}); }});
        forms.back().figures.add("messages_per_image", messages);
    }
    for (std::size_t f = 0; f < forms.size(); ++f)
        runs[f]([&](const Array& result) {
            if (!folder.empty()) apps::append(folder + "/" + forms[f].name, result);
        });
    apps::compare(program, forms, "seconds_per_image", asked.frames);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}

// SPDX-License-Identifier: BSD-3-Clause
// Trace points: named slices of time. They cost one load and a branch, unless HOCKET_TRACE names a
// file. Then hocket writes Chrome trace events to it (JSON, one event a line), for Perfetto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::trace {

bool enabled();

/// Further attributes of a slice. Make them only if `enabled`.
class Arguments {
  public:
    Arguments& add(std::string_view name, std::int64_t value);
    Arguments& add(std::string_view name, std::string_view value);
    const std::string& json() const { return json_; }  ///< members of an object; may be empty

  private:
    std::string json_;
};

/// The name of this process, and its position among the others in the picture.
void name_process(std::string_view name, int place);
void name_thread(std::string_view name);

/// A slice on this thread's track, between two values of platform::seconds(). Slices of a thread
/// nest or are disjoint; use a Track for others.
void record(std::string_view name, double begin, double end, const Arguments& arguments = {});

/// An arrow from this thread's slice at time `at` to the slice with the same `id`, in this process
/// or another.
void arrow_out(std::uint64_t id, double at);
void arrow_in(std::uint64_t id, double at);

/// Writes the recorded events, unless it has done so recently.
void flush();

/// A slice that lasts as long as the scope.
class Span {
  public:
    explicit Span(std::string_view name);
    Span(std::string_view name, const Arguments& arguments);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

  private:
    std::string name_;
    Arguments arguments_;
    double begin_ = 0;
};

/// An operation that progresses while its process does other work: a separate track with its
/// successive steps.
class Track {
  public:
    Track() = default;  ///< records nothing
    Track(std::string_view name, const Arguments& arguments);
    ~Track() { end(); }
    Track(Track&& other) noexcept;
    Track& operator=(Track&& other) noexcept;

    /// The work since the step before (or the beginning) until now. Consecutive steps of one name
    /// become one.
    void step(std::string_view name);
    void end();
    const std::string& name() const { return name_; }
    bool records() const { return id_ != 0; }

  private:
    void write(char phase, std::string_view name, double at, const Arguments& arguments) const;
    void end_step();

    std::uint64_t id_ = 0;  // 0: none
    std::string name_, step_;
    double step_begin_ = 0, last_ = 0;
};

}  // namespace hocket::trace

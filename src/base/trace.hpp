// SPDX-License-Identifier: BSD-3-Clause
// Trace points: slices of time with a name. They cost one load and a branch unless HOCKET_TRACE
// names a file, which then gets them as Chrome trace events (JSON, one event a line), readable by
// Perfetto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hocket::trace {

bool enabled();

/// What is told of a slice beside its name. Make them only where `enabled`.
class Arguments {
  public:
    Arguments& add(std::string_view name, std::int64_t value);
    Arguments& add(std::string_view name, std::string_view value);
    const std::string& json() const { return json_; }  ///< members of an object, may be empty

  private:
    std::string json_;
};

/// What people call this process, and its place among the others in the picture.
void name_process(std::string_view name, int place);
void name_thread(std::string_view name);

/// A slice on this thread's track, between two readings of port::seconds(). The slices of a thread
/// lie within each other or apart; what overlaps needs a Track.
void record(std::string_view name, double begin, double end, const Arguments& arguments = {});

/// An arrow leaves the slice of this thread that `at` lies in, and comes to the one that the same
/// `id` lies in elsewhere: of this process or of another.
void arrow_out(std::uint64_t id, double at);
void arrow_in(std::uint64_t id, double at);

/// Writes what has been recorded so far, if that was not done lately.
void flush();

/// A slice as long as the scope.
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

/// An operation that goes on while its process does other things: a track of its own, with the
/// steps that it takes one after the other.
class Track {
  public:
    Track() = default;  ///< nothing is recorded
    Track(std::string_view name, const Arguments& arguments);
    ~Track() { end(); }
    Track(Track&& other) noexcept;
    Track& operator=(Track&& other) noexcept;

    /// What has been done since the step before (or the beginning) until now. Steps of one name in
    /// a row are one.
    void step(std::string_view name);
    void end();
    const std::string& name() const { return name_; }

  private:
    void write(char phase, std::string_view name, double at, const Arguments& arguments) const;
    void end_step();

    std::uint64_t id_ = 0;  // 0: none
    std::string name_, step_;
    double step_begin_ = 0, last_ = 0;
};

}  // namespace hocket::trace

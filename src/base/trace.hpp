// SPDX-License-Identifier: BSD-3-Clause
// Trace points: spans of time with a name. They cost one load and a branch unless HOCKET_TRACE
// names a file, which then gets them as Chrome trace events (JSON, one event a line), readable by
// Perfetto.
#pragma once

namespace hocket::trace {

bool enabled();
void record(const char* name, double begin, double end);

class Span {
  public:
    explicit Span(const char* name);
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

  private:
    const char* name_;
    double begin_;
};

}  // namespace hocket::trace

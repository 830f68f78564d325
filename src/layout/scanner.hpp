// SPDX-License-Identifier: BSD-3-Clause
// Reads text by characters, and reports errors with a mark at the character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hocket::layout {

class Scanner {
  public:
    /// `what` names the text in messages: "distribution", "layout".
    Scanner(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

    std::size_t position() const { return position_; }
    void go_to(std::size_t position) { position_ = position; }
    bool at_end();
    char peek();  ///< the next non-blank character, '\0' at the end
    bool accept(char c);
    void skip();         ///< skips one word, number or other character
    void skip_number();  ///< skips the following digits, however many
    void expect(char c, std::string_view where);
    /// The next word in capitals; empty if there is none.
    std::string word();
    /// If the next word is `name` (in capitals), skips it and returns true.
    bool accept_word(std::string_view name);
    /// A decimal integer without sign. @throws LayoutError if there is none, or if it needs over 63
    /// bits.
    std::int64_t number(std::string_view what);
    bool at_number();
    void expect_end();

    /// @throws LayoutError always: the expectation, the text, and a caret under the character.
    [[noreturn]] void fail(std::string_view expected) { fail_at(position_, expected); }
    [[noreturn]] void fail_at(std::size_t position, std::string_view expected) const;

  private:
    void skip_blanks();

    std::string_view text_;
    std::string what_;
    std::size_t position_ = 0;
};

}  // namespace hocket::layout

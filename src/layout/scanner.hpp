// SPDX-License-Identifier: BSD-3-Clause
// Reads text by the character, and points at the one where it could not go on.
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
    char peek();  ///< the next character that is no blank, '\0' at the end
    bool accept(char c);
    void skip();         ///< past one word, number or other character
    void skip_number();  ///< past the digits that come next, however many
    void expect(char c, std::string_view where);
    /// The next word in capitals, empty where none starts here.
    std::string word();
    /// True, and past it, where the next word is `name` (given in capitals).
    bool accept_word(std::string_view name);
    /// A decimal integer without sign. @throws LayoutError where none is, or it needs over 63 bits.
    std::int64_t number(std::string_view what);
    bool at_number();
    void expect_end();

    /// @throws LayoutError always: what was expected, the text, and a caret under the character.
    [[noreturn]] void fail(std::string_view expected) { fail_at(position_, expected); }
    [[noreturn]] void fail_at(std::size_t position, std::string_view expected) const;

  private:
    void skip_blanks();

    std::string_view text_;
    std::string what_;
    std::size_t position_ = 0;
};

}  // namespace hocket::layout

// SPDX-License-Identifier: BSD-3-Clause
#include "layout/scanner.hpp"

#include <algorithm>
#include <cctype>

#include "hocket/error.hpp"

namespace hocket::layout {

namespace {

bool is_blank(char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Bytes of one character that are not its first (UTF-8).
bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::size_t characters(std::string_view text) {
    return text.size() -
           static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

}  // namespace

void Scanner::skip_blanks() {
    while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
}

bool Scanner::at_end() {
    skip_blanks();
    return position_ == text_.size();
}

char Scanner::peek() {
    return at_end() ? '\0' : text_[position_];
}

bool Scanner::accept(char c) {
    if (peek() != c || c == '\0') return false;
    ++position_;
    return true;
}

void Scanner::skip() {
    if (at_end()) return;
    if (word().empty()) ++position_;
}

void Scanner::skip_number() {
    peek();
    while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
}

void Scanner::expect(char c, std::string_view where) {
    if (!accept(c)) fail("'" + std::string(1, c) + "' " + std::string(where));
}

std::string Scanner::word() {
    std::string result;
    if (!is_letter(peek())) return result;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]))) {
        result += static_cast<char>(std::toupper(static_cast<unsigned char>(text_[position_])));
        ++position_;
    }
    return result;
}

bool Scanner::accept_word(std::string_view name) {
    peek();
    const std::size_t start = position_;
    if (word() == name) return true;
    position_ = start;
    return false;
}

bool Scanner::at_number() {
    return is_digit(peek());
}

std::int64_t Scanner::number(std::string_view what) {
    if (!at_number()) fail(what);
    const std::size_t start = position_;
    std::int64_t value = 0;
    while (position_ < text_.size() && is_digit(text_[position_])) {
        if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
            __builtin_add_overflow(value, std::int64_t{text_[position_] - '0'}, &value))
            fail_at(start, std::string(what) + " of at most 2^63 - 1");
        ++position_;
    }
    return value;
}

void Scanner::expect_end() {
    if (!at_end()) fail("the end of the text");
}

void Scanner::fail_at(std::size_t position, std::string_view expected) const {
    // For a long text, or one of many lines, shows the part around the character.
    constexpr std::size_t reach = 60;
    std::size_t begin = position > reach ? position - reach : 0;
    std::size_t end = std::min(text_.size(), position + reach);
    for (std::size_t i = begin; i < position; ++i)
        if (text_[i] == '\n') begin = i + 1;
    for (std::size_t i = position; i < end; ++i)
        if (text_[i] == '\n') end = i;
    while (begin < position && is_continuation(text_[begin])) ++begin;
    std::string shown(text_.substr(begin, end - begin));
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    const std::string before = begin > 0 && text_[begin - 1] != '\n' ? "..." : "";
    const std::string after = end < text_.size() && text_[end] != '\n' ? "..." : "";
    throw LayoutError(
        "malformed " + what_ + ": expected " + std::string(expected) + " at character " +
        std::to_string(characters(text_.substr(0, position)) + 1) + "\n" + before + shown + after +
        "\n" + std::string(before.size() + characters(text_.substr(begin, position - begin)), ' ') +
        "^");
}

}  // namespace hocket::layout

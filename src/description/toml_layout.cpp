#include "description/toml_layout.hpp"

#include <algorithm>
#include <variant>

#include "description/toml_document.hpp"

namespace entrain::description {
namespace {

/// Reads a valid text from left to right.
class LayoutScanner {
 public:
  LayoutScanner(std::string_view text, TextSpan part) : text_(text), at_(part.begin), end_(part.end) {}

  bool is_at_end() const { return at_ >= end_; }
  char next() const { return is_at_end() ? '\0' : text_[at_]; }
  std::size_t at() const { return at_; }
  void skip(std::size_t count = 1) { at_ = std::min(end_, at_ + count); }
  void skip_blanks() {
    while (next() == ' ' || next() == '\t') skip();
  }
  void skip_line() {
    while (!is_at_end() && next() != '\n') skip();
    skip();
  }
  /// Blanks, line ends and comments.
  void skip_space() {
    for (;;) {
      const char c = next();
      if (c == '#') {
        skip_line();
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        skip();
      } else {
        return;
      }
    }
  }

  void read_path(std::vector<std::string>& path, std::vector<TextSpan>& parts) {
    for (;;) {
      skip_blanks();
      const std::size_t begin = at_;
      if (next() == '"' || next() == '\'') {
        skip_string();
      } else {
        while (!is_at_end() && std::string_view(" \t.=]\n\r").find(next()) == std::string_view::npos) skip();
      }
      parts.push_back({begin, at_});
      path.push_back(meaning_of(text_, parts.back()));
      skip_blanks();
      if (next() != '.') return;
      skip();
    }
  }

  TextSpan read_value() {
    const std::size_t begin = at_;
    const char c = next();
    if (c == '"' || c == '\'') {
      skip_string();
    } else if (c == '[' || c == '{') {
      skip_nested();
    } else {
      while (!is_at_end() && std::string_view(",]}#\n\r").find(next()) == std::string_view::npos) skip();
      while (at_ > begin && (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t')) --at_;
    }
    return {begin, at_};
  }

 private:
  bool follows(std::string_view what) const { return text_.substr(at_, end_ - at_).starts_with(what); }

  void skip_string() {
    const char quote = next();
    const std::string three(3, quote);
    const bool is_long = follows(three);
    skip(is_long ? 3 : 1);
    while (!is_at_end()) {
      if (quote == '"' && next() == '\\') {
        skip(2);
      } else if (is_long ? follows(three) : next() == quote) {
        skip(is_long ? 3 : 1);
        while (is_long && next() == quote) skip();  // up to two quotes may stand before the end
        return;
      } else {
        skip();
      }
    }
  }

  void skip_nested() {
    std::size_t depth = 0;
    do {
      const char c = next();
      if (c == '"' || c == '\'') {
        skip_string();
        continue;
      }
      if (c == '#') {
        skip_line();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      skip();
    } while (depth > 0 && !is_at_end());
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
};

LaidKey read_key(LayoutScanner& scanner) {
  LaidKey key;
  key.lines.begin = scanner.at();
  scanner.read_path(key.path, key.parts);
  scanner.skip();  // the equals sign
  scanner.skip_blanks();
  key.value = scanner.read_value();
  key.lines.end = key.value.end;
  return key;
}

}  // namespace

std::vector<LaidTable> layout_of(std::string_view text) {
  std::vector<LaidTable> tables(1);
  LayoutScanner scanner(text, {text.starts_with("\xef\xbb\xbf") ? std::size_t{3} : 0, text.size()});
  for (;;) {
    scanner.skip_space();
    if (scanner.is_at_end()) return tables;
    const auto before = text.rfind('\n', scanner.at());
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    if (scanner.next() == '[') {
      auto& table = tables.emplace_back();
      scanner.skip();
      table.is_element = scanner.next() == '[';
      if (table.is_element) scanner.skip();
      scanner.read_path(table.path, table.parts);
      scanner.skip_line();
      table.header = {line, scanner.at()};
    } else {
      auto key = read_key(scanner);
      scanner.skip_line();
      key.lines = {line, scanner.at()};
      tables.back().keys.push_back(std::move(key));
    }
  }
}

std::vector<LaidKey> keys_in_braces(std::string_view text, TextSpan value) {
  std::vector<LaidKey> keys;
  LayoutScanner scanner(text, {value.begin + 1, value.end - 1});
  for (;;) {
    while (scanner.next() == ',' || scanner.next() == ' ' || scanner.next() == '\t') scanner.skip();
    if (scanner.is_at_end()) return keys;
    keys.push_back(read_key(scanner));
  }
}

std::vector<TextSpan> elements_in_brackets(std::string_view text, TextSpan value) {
  std::vector<TextSpan> elements;
  LayoutScanner scanner(text, {value.begin + 1, value.end - 1});
  for (;;) {
    scanner.skip_space();
    while (scanner.next() == ',') {
      scanner.skip();
      scanner.skip_space();
    }
    if (scanner.is_at_end()) return elements;
    elements.push_back(scanner.read_value());
  }
}

std::string meaning_of(std::string_view text, TextSpan string) {
  const auto written = text.substr(string.begin, string.end - string.begin);
  if (written.empty() || (written.front() != '"' && written.front() != '\'')) return std::string(written);
  std::vector<Problem> none;
  const auto document = parse_toml("v = " + std::string(written), "", none);
  if (!document || document->entries.empty()) return std::string(written);
  const auto* meant = std::get_if<std::string>(&document->entries.front().node.value);
  return meant == nullptr ? std::string(written) : *meant;
}

}  // namespace entrain::description

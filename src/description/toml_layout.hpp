#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::description {

/// Where something stands in a text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// "key = value" as it stands in the text, in a table or in braces.
struct LaidKey {
  std::vector<std::string> path;  ///< of the key alone, without that of its table
  std::vector<TextSpan> parts;    ///< of each name in it, quotes included
  TextSpan value;
  TextSpan lines;  ///< whole lines; in braces, key and value
};

/// "[a.b]" with what follows up to the next one. The first has no header: what stands before all tables.
struct LaidTable {
  std::vector<std::string> path;
  std::vector<TextSpan> parts;
  bool is_element = false;  ///< [[a.b]]
  TextSpan header;          ///< whole line
  std::vector<LaidKey> keys;
};

/// The places of all tables, keys and values of a TOML text. The text must be valid: nothing is checked here.
std::vector<LaidTable> layout_of(std::string_view text);

/// Of a value that begins with a brace: its keys. Of one that begins with a bracket: its elements.
std::vector<LaidKey> keys_in_braces(std::string_view text, TextSpan value);
std::vector<TextSpan> elements_in_brackets(std::string_view text, TextSpan value);

/// The text that a string of TOML means; of anything else as it is written.
std::string meaning_of(std::string_view text, TextSpan string);

}  // namespace entrain::description

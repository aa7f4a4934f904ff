#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace entrain::cli {

/// Columns a terminal needs for UTF-8 text: code points, without combining marks and colour codes.
std::size_t display_width(std::string_view text);

/// Text in aligned columns, two spaces apart, a line under the header.
class Table {
 public:
  enum class Align { Left, Right };

  explicit Table(std::vector<std::string> header);
  /// Numbers read better to the right.
  Table& align_right(std::size_t column);
  /// Cells left out are empty.
  void add_row(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Every line ends with a line end and has no trailing spaces. Where the lines are longer than so many columns, the
  /// widest columns of words are cut.
  std::string text(std::size_t indent = 0, std::size_t columns = output_columns()) const;

 private:
  void shrink(std::vector<std::size_t>& widths, std::size_t indent, std::size_t columns) const;

  std::vector<std::string> header_;
  std::vector<Align> alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace entrain::cli

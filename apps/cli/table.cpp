#include "cli/table.hpp"

#include <algorithm>

namespace entrain::cli {
namespace {

constexpr unsigned char kEscape = 0x1B;

/// A cell of `width` columns at most; what is cut ends with a mark.
std::string cut_cell(const std::string& cell, std::size_t width) {
  return display_width(cell) <= width ? cell : cut_to(width - 1, cell) + "…";
}

std::string joined_cells(const std::vector<std::string>& cells, const std::vector<Table::Align>& alignment,
                         const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += "  ";
    const auto cell = cut_cell(cells[i], widths[i]);
    const std::string padding(widths[i] - display_width(cell), ' ');
    line += alignment[i] == Table::Align::Right ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == kEscape) {
      i = std::min(text.find('m', i), text.size());
      continue;
    }
    const bool continuation = (byte & 0xC0U) == 0x80U;
    // U+0300..U+036F, combining marks, are the bytes CC 80 .. CD AF.
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool combining = byte == 0xCCU || (byte == 0xCDU && next <= 0xAFU);
    if (!continuation && !combining) ++width;
  }
  return width;
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)), alignment_(header_.size(), Align::Left) {}

Table& Table::align_right(std::size_t column) {
  alignment_[column] = Align::Right;
  return *this;
}

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(header_.size());
  rows_.push_back(std::move(cells));
}

void Table::shrink(std::vector<std::size_t>& widths, std::size_t indent, std::size_t columns) const {
  constexpr std::size_t kLeast = 8;  // of a column that still can be read
  std::size_t total = indent + 2 * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  while (total > columns) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (alignment_[i] == Align::Right || widths[i] <= kLeast) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
    --total;
  }
}

std::string Table::text(std::size_t indent, std::size_t columns) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    std::size_t width = display_width(header_[i]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  shrink(widths, indent, columns);
  std::vector<std::string> rules;
  rules.reserve(widths.size());
  for (const std::size_t width : widths) rules.emplace_back(width, '-');
  const std::string margin(indent, ' ');
  std::string text =
      margin + joined_cells(header_, alignment_, widths) + margin + joined_cells(rules, alignment_, widths);
  for (const auto& row : rows_) text += margin + joined_cells(row, alignment_, widths);
  return text;
}

}  // namespace entrain::cli

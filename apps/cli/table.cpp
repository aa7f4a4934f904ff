#include "cli/table.hpp"

#include <algorithm>

namespace entrain::cli {
namespace {

constexpr unsigned char kEscape = 0x1B;

std::string joined_cells(const std::vector<std::string>& cells, const std::vector<Table::Align>& alignment,
                         const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) line += "  ";
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    line += alignment[i] == Table::Align::Right ? padding + cells[i] : cells[i] + padding;
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

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    std::size_t width = display_width(header_[i]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
    rules.emplace_back(width, '-');
  }
  const std::string margin(indent, ' ');
  std::string text =
      margin + joined_cells(header_, alignment_, widths) + margin + joined_cells(rules, alignment_, widths);
  for (const auto& row : rows_) text += margin + joined_cells(row, alignment_, widths);
  return text;
}

}  // namespace entrain::cli

#include "results/csv_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "entrain/error.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Error malformed(const std::filesystem::path& file, std::size_t line, const std::string& what) {
  return Error(ErrorCode::FileFailed, fmt::format("{}:{}: {}", file.string(), line, what));
}

/// One record from the front of `text`, which loses it; nothing when its line end is missing.
std::optional<std::vector<std::string>> take_record(std::string_view& text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cells.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      text.remove_prefix(i + 1);
      return cells;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return std::nullopt;
}

std::optional<double> number(std::string_view cell) {
  if (cell.empty()) return kUnknown;
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

}  // namespace

CsvResults read_csv(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Error(ErrorCode::FileFailed, fmt::format("cannot read '{}'", file.string()));
  return parse_csv(text, file);
}

CsvResults parse_csv(std::string_view text, const std::filesystem::path& file) {
  CsvResults results;
  const auto header = take_record(text);
  if (!header || header->front() != "time") throw malformed(file, 1, "no header that starts with 'time'");
  results.names.assign(header->begin() + 1, header->end());
  results.columns.resize(results.names.size());
  for (std::size_t line = 2; !text.empty(); ++line) {
    const auto cells = take_record(text);
    if (!cells) {
      results.cut = true;
      break;
    }
    if (cells->size() != header->size()) {
      throw malformed(file, line, fmt::format("{} cells where the header has {}", cells->size(), header->size()));
    }
    for (std::size_t i = 0; i < cells->size(); ++i) {
      const auto value = number((*cells)[i]);
      if (!value) throw malformed(file, line, fmt::format("'{}' is not a number", (*cells)[i]));
      (i == 0 ? results.times : results.columns[i - 1]).push_back(*value);
    }
  }
  return results;
}

}  // namespace entrain

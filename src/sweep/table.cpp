#include "sweep/table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/csv.hpp"
#include "base/file_error.hpp"
#include "base/posix_write.hpp"
#include "base/replace_file.hpp"
#include "entrain/fact_codes.hpp"
#include "sweep/sampling.hpp"

namespace entrain::sweeping {
namespace {

namespace fs = std::filesystem;

double table_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string number_cell(double value) {
  return std::isnan(value) ? std::string() : fmt::format("{}", value);
}

/// In one line, so that a row that was cut off is seen as such.
std::string text_cell(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return base::csv_cell(text);
}

double number_in(const std::string& cell) {
  return base::csv_number(cell).value_or(std::numeric_limits<double>::quiet_NaN());
}

double input_in(const SweepInput& input, const std::string& cell) {
  if (input.words.empty()) return number_in(cell);
  const auto word = std::find(input.words.begin(), input.words.end(), cell);
  return static_cast<double>(word - input.words.begin());
}

[[noreturn]] void refuse_table(const fs::path& file) {
  throw Error(ErrorCode::FileFailed,
              {FactCode::SweepOther, {file.string()}, {{"what", "its table has other columns"}}});
}

}  // namespace

AppendedFile::AppendedFile(fs::path file, const std::string& content) : file_(std::move(file)) {
  base::replace_file(file_, content);
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) throw base::file_error("write", file_, errno);
  synced_ = table_clock();
}

AppendedFile::~AppendedFile() {
  ::fdatasync(descriptor_);
  ::close(descriptor_);
}

void AppendedFile::add(const std::string& record) {
  const auto written = base::write_all(descriptor_, record);
  if (written.error_number != 0) throw base::file_error("write", file_, written.error_number);
  if (const double now = table_clock(); now - synced_ > 1.0) {
    ::fdatasync(descriptor_);
    synced_ = now;
  }
}

std::string table_header(const TableShape& shape) {
  std::string text = "case";
  for (const auto& input : shape.inputs) text += "," + text_cell(input.name);
  for (const auto& name : shape.quantities) text += "," + text_cell(name);
  for (const auto& name : shape.quantities) text += "," + text_cell("error of " + name);
  return text + ",termination,grade,seconds,message\n";
}

std::string table_row(const TableShape& shape, const SweepCase& row) {
  std::string text = std::to_string(row.number);
  for (std::size_t d = 0; d < shape.inputs.size(); ++d)
    text += "," + text_cell(input_text(shape.inputs[d], row.inputs[d]));
  for (const auto* list : {&row.quantities, &row.errors}) {
    for (const double value : *list) text += "," + number_cell(value);
  }
  return text + fmt::format(",{},{},{},{}\n", row.termination, row.grade, row.seconds, text_cell(row.message));
}

std::string table_text(const TableShape& shape, const std::vector<SweepCase>& cases) {
  std::string text = table_header(shape);
  for (const auto& row : cases) text += table_row(shape, row);
  return text;
}

std::vector<SweepCase> read_cases(const fs::path& file, const TableShape& shape) {
  const std::string text = base::read_csv_text(file);
  const std::string header = table_header(shape);
  if (!text.starts_with(header)) refuse_table(file);
  const std::size_t inputs = shape.inputs.size();
  const std::size_t quantities = shape.quantities.size();
  std::map<std::size_t, SweepCase> cases;
  std::string_view rest = std::string_view(text).substr(header.size());
  while (const auto cells = base::take_csv_record(rest)) {
    if (cells->size() != 1 + inputs + 2 * quantities + 4) continue;
    const auto number = base::csv_number(cells->front());
    if (!number) continue;
    SweepCase row;
    row.number = static_cast<std::size_t>(*number);
    auto next = cells->begin() + 1;
    for (const auto& input : shape.inputs) row.inputs.push_back(input_in(input, *next++));
    for (std::size_t k = 0; k < quantities; ++k) row.quantities.push_back(number_in(*next++));
    for (std::size_t k = 0; k < quantities; ++k) row.errors.push_back(number_in(*next++));
    row.termination = *next++;
    row.grade = *next++;
    row.seconds = number_in(*next++);
    row.message = *next;
    cases.try_emplace(row.number, std::move(row));
  }
  std::vector<SweepCase> sorted;
  sorted.reserve(cases.size());
  for (auto& [number, row] : cases) sorted.push_back(std::move(row));
  return sorted;
}

std::string course_record(std::size_t number, const std::vector<double>& values) {
  const auto first = static_cast<double>(number);
  std::string record(sizeof(double) * (1 + values.size()), '\0');
  std::memcpy(record.data(), &first, sizeof first);
  if (!values.empty()) std::memcpy(record.data() + sizeof first, values.data(), sizeof(double) * values.size());
  return record;
}

std::string courses_text(const Courses& courses) {
  std::string text;
  for (const auto& [number, values] : courses) text += course_record(number, values);
  return text;
}

Courses read_courses(const fs::path& file, std::size_t size, const std::set<std::size_t>& numbers) {
  std::ifstream stream(file, std::ios::binary);
  Courses courses;
  std::vector<double> record(1 + size);
  const auto bytes = static_cast<std::streamsize>(sizeof(double) * record.size());
  while (size > 0 && stream.read(reinterpret_cast<char*>(record.data()), bytes)) {
    const auto number = static_cast<std::size_t>(record.front());
    if (numbers.contains(number)) courses[number].assign(record.begin() + 1, record.end());
  }
  return courses;
}

}  // namespace entrain::sweeping

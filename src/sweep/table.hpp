#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "entrain/sweep.hpp"

namespace entrain::sweeping {

/// Which columns a table has.
struct TableShape {
  std::vector<SweepInput> inputs;
  std::vector<std::string> quantities;
};

/// A file that records are appended to, each in one write, on the disk within about a second.
class AppendedFile {
 public:
  /// Begins it anew with this content. Throws Error{FileFailed}.
  AppendedFile(std::filesystem::path file, const std::string& content);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;
  /// Throws Error{FileFailed}.
  void add(const std::string& record);

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  double synced_ = 0.0;
};

/// cases.csv: its first line, and a row for each case as it is done. A killed sweep loses the last one at most.
std::string table_header(const TableShape& shape);
std::string table_row(const TableShape& shape, const SweepCase& row);
/// Header and all rows.
std::string table_text(const TableShape& shape, const std::vector<SweepCase>& cases);
/// Whole rows only, by their number, each once. Throws Error{FileFailed} for a table of another shape.
std::vector<SweepCase> read_cases(const std::filesystem::path& file, const TableShape& shape);

/// courses.bin: of each completed case its number and a value for each signal and time, as doubles.
using Courses = std::map<std::size_t, std::vector<double>>;
std::string course_record(std::size_t number, const std::vector<double>& values);
std::string courses_text(const Courses& courses);
/// Whole records of `size` values, of the cases that are named. A file that is not there holds none.
Courses read_courses(const std::filesystem::path& file, std::size_t size, const std::set<std::size_t>& numbers);

}  // namespace entrain::sweeping

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "entrain/results.hpp"
#include "entrain/variable.hpp"
#include "record/row_block.hpp"

namespace entrain::recording {

/// Not in files that hold numbers alone, nor in `Results`.
inline bool is_text(ValueType type) {
  return type == ValueType::String || type == ValueType::Binary;
}

/// What is recorded. The columns of one subsystem are a group: they are known at the same times.
struct RecordedLayout {
  struct Column {
    std::string name;  ///< "subsystem.variable"
    std::string unit;
    std::string description;
    std::size_t group = 0;
    ValueType type = ValueType::Real;
    /// Of a column that is no real number: which of the discrete values of a row has it exactly.
    std::optional<std::size_t> discrete = std::nullopt;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(name, unit, description, group, type, discrete);
    }
  };
  std::vector<Column> columns;
  std::vector<std::string> groups;  ///< names of the subsystems
  Time start = 0.0;
  Time stop = 0.0;
  double expected_rows = 0.0;  ///< if the macro step stays what was asked for; 0 = unknown

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(columns, groups, start, stop, expected_rows);
  }
};

/// A file that results are written to, block by block. Used by one thread at a time, but for `sync`. Every call may
/// throw Error{FileFailed}; nothing is written after that.
class ResultsFile {
 public:
  virtual ~ResultsFile() = default;
  /// Called once, before the blocks.
  virtual void write_header(const RecordedLayout& layout) = 0;
  virtual void write(const RowBlock& block, RowRange rows) = 0;
  /// Afterwards what was written can be read, whatever ends the program. Called several times a second and at the end.
  virtual void flush() = 0;
  /// Afterwards what was flushed is there whatever ends the operating system. Called about once a second, from another
  /// thread.
  virtual void sync() {}
  /// After the last flush: the file gets its final form.
  virtual void complete() {}
  /// Of the last row that the file contains.
  virtual std::optional<Time> last_time() const { return std::nullopt; }
  /// Of a file that is continued, before the first block: rows later than `last` are taken out, for they come again;
  /// of those at `last`, which an instant has several of, that many stay. One that has no row there is refused.
  /// nullopt: only the header stays.
  virtual void continue_after(std::optional<Time> /*last*/, std::uint64_t /*rows_there*/) {}
};

inline constexpr std::uint64_t kAllRows = std::numeric_limits<std::uint64_t>::max();

/// Of a value of `record.format`.
std::string results_file_name(std::string_view format);

/// For a run: CSV, or a journal (record/journal.hpp) of which the file is made when it is complete. Throws
/// Error{FileFailed}.
std::unique_ptr<ResultsFile> make_results_file(std::string_view format, const std::filesystem::path& file);
/// The file itself, which has its form only once it is flushed. Throws Error{FileFailed}.
std::unique_ptr<ResultsFile> make_final_file(std::string_view format, const std::filesystem::path& file);
/// The file is what `write` writes, or what it was before if that throws.
void replace_results_file(std::string_view format, const std::filesystem::path& file,
                          base::FunctionRef<void(ResultsFile&)> write);

/// Each creates or empties the file; throws Error{FileFailed}.
std::unique_ptr<ResultsFile> csv_file(const std::filesystem::path& file);
/// Goes on in a file that is there; its header must be the same. Throws Error{FileFailed}, also for other formats than
/// CSV.
std::unique_ptr<ResultsFile> continued_results_file(std::string_view format, const std::filesystem::path& file);
std::unique_ptr<ResultsFile> continued_csv_file(const std::filesystem::path& file);
/// No file: rows become `results`.
std::unique_ptr<ResultsFile> memory_results(std::shared_ptr<Results> results);
std::unique_ptr<ResultsFile> mat_file(const std::filesystem::path& file);
/// MAT version 4 has doubles only. Throws Error{FileFailed} for an integer that it would round: the file must not
/// contain wrong values.
void require_exact_in_mat(const std::filesystem::path& file, const RecordedLayout& layout, const RowBlock& block,
                          RowRange rows);

}  // namespace entrain::recording

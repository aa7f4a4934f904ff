#include "record/results_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file_error.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system_description.hpp"
#include "record/hdf5_plugin.hpp"
#include "record/journal.hpp"

namespace entrain::recording {
namespace {

struct Format {
  std::string_view name;
  std::string_view file;
  std::unique_ptr<ResultsFile> (*make)(const std::filesystem::path&);
};

std::unique_ptr<ResultsFile> hdf5_results_file(const std::filesystem::path& file) {
  return hdf5_plugin(file).results_file(file);
}

constexpr std::array<Format, kRecordFormats.size()> kFormats{{{kCsvFormat, "results.csv", csv_file},
                                                              {kHdf5Format, "results.h5", hdf5_results_file},
                                                              {kMatFormat, "results.mat", mat_file}}};

static_assert(std::equal(kFormats.begin(), kFormats.end(), kRecordFormats.begin(),
                         [](const Format& format, std::string_view name) { return format.name == name; }));

const Format& find(std::string_view name) {
  for (const auto& format : kFormats) {
    if (format.name == name) return format;
  }
  return kFormats.front();  // other names were refused when the system was read
}

}  // namespace

std::string results_file_name(std::string_view format) {
  return std::string(find(format).file);
}

std::unique_ptr<ResultsFile> continued_results_file(std::string_view format, const std::filesystem::path& file) {
  if (format == kCsvFormat) return continued_csv_file(file);
  throw Error(ErrorCode::FileFailed, {FactCode::FormatNotContinued, {std::string(format)}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave --append away, or record as csv"});
}

std::unique_ptr<ResultsFile> make_results_file(std::string_view format, const std::filesystem::path& file) {
  if (find(format).name == kCsvFormat) return csv_file(file);
  return journal_file(format, file);
}

std::unique_ptr<ResultsFile> make_final_file(std::string_view format, const std::filesystem::path& file) {
  return find(format).make(file);
}

void replace_results_file(std::string_view format, const std::filesystem::path& file,
                          base::FunctionRef<void(ResultsFile&)> write) {
  std::error_code none;
  const auto place = std::filesystem::weakly_canonical(file, none);  // what a link refers to is replaced, not the link
  const auto target = none ? file : place;
  auto temporary = target;  // in the same folder, because a rename is atomic only inside one file system
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), ::gettid());
  try {
    const auto made = make_final_file(format, temporary);
    write(*made);
    made->flush();
    made->complete();
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  std::error_code error;
  std::filesystem::rename(temporary, target, error);
  if (error) throw base::file_error("write", file, error.value());
}

}  // namespace entrain::recording

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/scripted_fmu.h"
#include "support/temporary_folder.hpp"

namespace entrain::test {

/// How the process of an FMU ends.
struct ProvokedEnd {
  int mode;  ///< ScriptedMode or Fault
  const char* name;
  const char* fault;  ///< as in run.json
};
inline std::ostream& operator<<(std::ostream& out, const ProvokedEnd& end) {
  return out << end.name;
}

/// A folder with scripted FMUs, and the program run in it.
class ScriptedFmus : public testing::Test {
 protected:
  ScriptedFmus() : library_(text_of(test::scripted_fmu_library())), temporary_(folder_ / "tmp") {
    std::filesystem::create_directory(temporary_);
  }

  std::filesystem::path write(const std::string& xml, const std::string& binary = kBinary) const {
    std::vector<ArchiveEntry> entries{{"modelDescription.xml", xml}};
    if (!binary.empty()) entries.push_back({binary, library_});
    return write_entries(entries);
  }
  std::filesystem::path write_library(const std::string& library, std::vector<ArchiveEntry> more = {}) const {
    more.push_back({"modelDescription.xml", scripted_description("")});
    more.push_back({kBinary, library});
    return write_entries(more);
  }

  /// The program with a TMPDIR of its own.
  ProgramResult run_here(const std::vector<std::string>& arguments) const {
    ::setenv("TMPDIR", temporary_.c_str(), 1);
    auto result = run_program(folder_, arguments);
    ::unsetenv("TMPDIR");
    return result;
  }

  /// Three instances of an FMU, the first in this mode; `keys` are those of the first, `others` of the second.
  void write_system(const std::filesystem::path& fmu, int mode, const std::string& keys = "",
                    const std::string& others = "") const {
    write_text(folder_ / "s.toml", fmt::format(R"([run]
stop = 1
step = 0.1
[subsystems.part]
fmu = "{0}"
start = {{ mode = {1} }}
{2}
[subsystems.second]
fmu = "{0}"
{3}
[subsystems.third]
fmu = "{0}"
)",
                                               fmu.filename().string(), mode, keys, others));
  }
  /// run.json of the run into 'out'.
  nlohmann::json summary() const { return nlohmann::json::parse(text_of(folder_ / "out" / "run.json")); }

  /// Of a run into 'out' that the subsystem 'part' ended in its step from 0.5 s on; what run.json has of it.
  nlohmann::json expect_end_in_a_step(const ProvokedEnd& end) const {
    EXPECT_TRUE(std::filesystem::is_empty(temporary_));
    const std::string table = text_of(folder_ / "out" / "results.csv");
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7);  // the header, and t = 0, 0.1 .. 0.5 s
    EXPECT_TRUE(table.ends_with("\n0.5,1,1,1\n")) << table;
    EXPECT_EQ(summary()["termination"], "failed");
    EXPECT_EQ(summary()["macro_steps"], 5);
    auto failure = summary()["failure"];
    EXPECT_EQ(failure["code"], end.mode == Throw ? "code-threw" : "code-fault");
    EXPECT_EQ(failure["values"].value("fault", "exception"), end.fault);
    EXPECT_EQ(failure["values"]["function"], "fmi2DoStep");
    EXPECT_EQ(failure["subjects"], nlohmann::json({fmt::format("FMU '{}'", (folder_ / "part 1.fmu").string())}));
    EXPECT_EQ(failure["subsystem"], "part");
    EXPECT_DOUBLE_EQ(failure["time"], 0.5);
    return failure;
  }

  static constexpr const char* kBinary = "binaries/linux64/scripted.so";
  TemporaryFolder folder_;
  std::string library_;
  std::filesystem::path temporary_;

 private:
  std::filesystem::path write_entries(const std::vector<ArchiveEntry>& entries) const {
    std::filesystem::path file = folder_ / fmt::format("part {}.fmu", ++written_);  // with a space
    write_archive(file, entries);
    return file;
  }
  mutable int written_ = 0;
};

}  // namespace entrain::test

// What the program loads, and when: HDF5 and pagmo take longer than all the rest, and most runs need neither.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/plugin.hpp"
#include "support/program.hpp"

namespace entrain {
namespace {

using test::TemporaryFolder;

struct Listed {
  test::ProgramResult result;
  std::string loaded;  ///< what the loader says: every library that it opens
};

Listed run_listed(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  ::setenv("LD_DEBUG", "files", 1);
  ::setenv("LD_DEBUG_OUTPUT", (folder / "loader").c_str(), 1);  // one file per process
  Listed listed{test::run_program(folder, arguments), {}};
  ::unsetenv("LD_DEBUG");
  ::unsetenv("LD_DEBUG_OUTPUT");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().filename().string().starts_with("loader.")) listed.loaded += test::text_of(entry.path());
  }
  return listed;
}

bool loads(const Listed& run, const std::string& library) {
  return run.loaded.find('/' + library) != std::string::npos;
}

TEST(StartUp, of_a_run_loads_neither_hdf5_nor_pagmo) {
  const TemporaryFolder folder;
  const auto run = run_listed(
      folder, {"run", test::examples_folder() + "/oscillator", "--stop", "0.1", "--no-estimate", "--out", "out"});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_TRUE(loads(run, "libfmt.so")) << "the list is missing";
  EXPECT_FALSE(loads(run, "libhdf5"));
  EXPECT_FALSE(loads(run, "libpagmo"));
}

TEST(StartUp, loads_hdf5_when_results_are_of_that_format) {
  const TemporaryFolder folder;
  std::filesystem::copy(test::examples_folder() + "/oscillator", folder / "system");
  std::ofstream(folder / "system/system.toml", std::ios::app) << "\n[record]\nformat = \"hdf5\"\n";
  const auto run = run_listed(folder, {"run", "system", "--stop", "0.1", "--no-estimate", "--out", "out"});
  EXPECT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_TRUE(loads(run, "libhdf5"));
  EXPECT_FALSE(loads(run, "libpagmo"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/results.h5"));
}

TEST(StartUp, plugin_that_is_missing_or_has_no_entry_is_named) {
  const auto missing = base::load_plugin("libentrain_absent.so", "entrain_absent");
  EXPECT_EQ(missing.entry, nullptr);
  EXPECT_NE(missing.why.find("libentrain_absent.so"), std::string::npos) << missing.why;
  const auto other = base::load_plugin("libentrain_hdf5.so", "entrain_absent");
  EXPECT_EQ(other.entry, nullptr);
  EXPECT_NE(other.why.find("entrain_absent"), std::string::npos) << other.why;
  EXPECT_NE(base::load_plugin("libentrain_hdf5.so", "entrain_hdf5").entry, nullptr);
}

}  // namespace
}  // namespace entrain

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "models/registry.hpp"
#include "support/loaded_fmu.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace fmu_file_test {

using test::fmu_file;
using test::FmuLibrary;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

TEST(FmuFile, every_built_in_model_is_an_fmu_of_both_versions) {
  for (const auto& entry : models::built_in_models()) {
    std::string name = entry.name;
    std::replace(name.begin(), name.end(), '.', '_');
    for (const char* version : {"2", "3"}) {
      const auto description = test::text_in_archive(fmu_file(version, name), "modelDescription.xml");
      EXPECT_EQ(test::matched(description, "modelName=\"([^\"]+)\""), entry.name);
      EXPECT_EQ(test::matched(description, "fmiVersion=\"(.)"), version);
    }
  }
}

#ifndef ENTRAIN_SANITIZED  // which add libraries of their own
TEST(FmuFile, library_needs_nothing_but_the_c_library) {
  const FmuLibrary library("2", "lotka_volterra_modulated_prey");  // the one with SUNDIALS inside
  std::istringstream lines(output_of("ldd " + library.path()));
  int count = 0;
  for (std::string name; lines >> name; std::getline(lines, name), ++count) {
    const bool expected = name.find("linux-vdso") == 0 || name.find("libc.so") == 0 || name.find("libm.so") == 0 ||
                          name.find("ld-linux") != std::string::npos;
    EXPECT_TRUE(expected) << name;
  }
  EXPECT_GE(count, 2);
}
#endif

TEST(FmuFile, library_shows_the_functions_of_the_standard_and_nothing_else) {
  // FMI 2.0 has 44 functions, FMI 3.0 has 75.
  const std::vector<std::pair<std::string, int>> expected = {{"2", 44}, {"3", 75}};
  for (const auto& [version, functions] : expected) {
    const FmuLibrary library(version, "lotka_volterra_modulated_prey");
    std::istringstream lines(output_of("nm -D --defined-only " + library.path()));
    int count = 0;
    for (std::string address, kind, name; lines >> address >> kind >> name; ++count) {
      EXPECT_EQ(name.find("fmi" + version), 0U) << name;
    }
    EXPECT_EQ(count, functions);
  }
}

TEST(FmuFile, packing_is_deterministic) {
  const FmuLibrary library("2", "chain_mass");
  const test::TemporaryFolder folder;
  const auto description = (folder / "again.xml").string();
  const auto again = (folder / "again.fmu").string();
  ASSERT_EQ(std::system((test::fmu_library_folder() + "/describe_chain_mass 2 " + description).c_str()), 0);
  ASSERT_EQ(
      std::system(
          (test::fmu_library_folder() + "/pack_fmu 2 " + description + " " + library.path() + " " + again).c_str()),
      0);
  EXPECT_EQ(test::text_of(again), test::text_of(fmu_file("2", "chain_mass")));
}

}  // namespace fmu_file_test
}  // namespace entrain

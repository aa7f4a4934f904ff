#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "entrain/cache.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/proof_cache.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/temporary_folder.hpp"
#include "support/trap_fmus.hpp"

// What was tried on an FMU is kept, and tried again only where that is needed. The FMU counts its instances in a file.

namespace entrain::test {
namespace proof_cache_test {

namespace fs = std::filesystem;

constexpr const char* kInterpolates = "canGetAndSetFMUstate=\"true\" canInterpolateInputs=\"true\"";

class ProofCache : public testing::Test {
 protected:
  void SetUp() override {
    set_cache_folder(cache_);
    ::setenv("ENTRAIN_TEST_INSTANCES", counted_.c_str(), 1);
  }
  void TearDown() override {
    set_cache_folder({});
    ::unsetenv("ENTRAIN_TEST_INSTANCES");
  }

  fs::path write(const std::string& trap, const std::string& name = "part.fmu") const {
    write_trap(folder_ / name, trap, kInterpolates);
    return folder_ / name;
  }
  /// Instances that were made since the last call.
  std::uintmax_t instances() const {
    std::error_code none;
    const auto count = fs::file_size(counted_, none);
    fs::remove(counted_);
    return none ? 0 : count;
  }
  struct Found {
    Capabilities can;
    std::vector<Fact> warnings;
  };
  static Found found(const fs::path& fmu, const CapabilityUse& uses = {}, std::optional<Duration> step = {}) {
    subsystem::FmuChoice choice;
    choice.uses = uses;
    choice.alone = true;
    choice.step = step;
    const auto subsystem = subsystem::make_fmu_subsystem("part", fmu, choice);
    return {subsystem->capabilities(), subsystem->warnings()};
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(cache_ / "fmus")) all.push_back(entry.path());
    return all;
  }
  ProgramResult run(const std::string& method, const std::vector<std::string>& more = {}) const {
    write_text(folder_ / "system.toml",
               fmt::format("[run]\nstop = 1.0\nstep = 0.1\nmethod = \"{}\"\n[subsystems.part]\nfmu = \"part.fmu\"\n"
                           "start = {{ u = 1.0 }}\n",
                           method));
    std::vector<std::string> arguments{"run", "system.toml", "--out", "out", "--overwrite", "--no-estimate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_, arguments);
  }
  nlohmann::json capabilities() const {
    return nlohmann::json::parse(text_of(folder_ / "out/run.json"))["subsystems"]["part"]["capabilities"];
  }

  TemporaryFolder folder_;
  fs::path cache_ = folder_ / "cache";
  fs::path counted_ = folder_ / "instances";
};

TEST_F(ProofCache, keeps_what_was_found_for_the_same_content_under_any_name) {
  const auto first = found(write("state_crash"));
  EXPECT_GT(instances(), 0U);
  ASSERT_EQ(first.warnings.size(), 1U);
  const fs::path copy = folder_ / "copy.fmu";
  fs::copy_file(folder_ / "part.fmu", copy);
  const auto second = found(copy);
  EXPECT_EQ(instances(), 0U);
  EXPECT_FALSE(second.can.rollback);
  EXPECT_EQ(second.can.input_degree, first.can.input_degree);
  EXPECT_EQ(second.can.reset, first.can.reset);
  ASSERT_EQ(second.warnings.size(), 1U);
  EXPECT_EQ(second.warnings[0].code, FactCode::FmuClaimWithdrawn);
  EXPECT_EQ(second.warnings[0].subjects, std::vector<std::string>{copy.string()});
}

TEST_F(ProofCache, is_not_used_for_other_content_or_another_step) {
  static_cast<void>(found(write("once"), {}, 0.1));
  EXPECT_GT(instances(), 0U);
  static_cast<void>(found(folder_ / "part.fmu", {}, 0.1));
  EXPECT_EQ(instances(), 0U);
  static_cast<void>(found(folder_ / "part.fmu", {}, 0.0001));
  EXPECT_GT(instances(), 0U);
  static_cast<void>(found(write("gain", "other.fmu"), {}, 0.1));
  EXPECT_GT(instances(), 0U);
}

TEST_F(ProofCache, adds_what_another_run_uses_and_offers_a_run_what_it_uses_alone) {
  const fs::path fmu = write("once");
  const auto little = found(fmu, CapabilityUse::none());
  EXPECT_GT(instances(), 0U);
  EXPECT_FALSE(little.can.rollback);
  EXPECT_EQ(little.can.input_degree, 0);
  EXPECT_EQ(little.can.tried, CapabilityUse::none());
  const auto all = found(fmu);
  EXPECT_GT(instances(), 0U);
  EXPECT_TRUE(all.can.rollback);
  EXPECT_EQ(all.can.input_degree, 3);
  const auto again = found(fmu, CapabilityUse::none());
  EXPECT_EQ(instances(), 0U);
  EXPECT_FALSE(again.can.rollback) << "what a run does must not depend on what was known before";
  EXPECT_EQ(again.can.input_degree, 0);
  EXPECT_FALSE(again.can.reset);
}

TEST_F(ProofCache, damaged_entry_is_replaced) {
  const fs::path fmu = write("once");
  static_cast<void>(found(fmu));
  ASSERT_EQ(entries().size(), 1U);
  const fs::path entry = entries()[0];
  const std::string whole = text_of(entry);
  std::string flipped = whole;
  flipped[whole.size() - 3] = static_cast<char>(flipped[whole.size() - 3] ^ 1);
  for (const std::string& damaged :
       {std::string(), std::string("x"), whole.substr(0, whole.size() / 2), flipped, whole + "x"}) {
    write_text(entry, damaged);
    static_cast<void>(instances());
    EXPECT_TRUE(found(fmu).can.rollback);
    EXPECT_GT(instances(), 0U);
    EXPECT_EQ(text_of(entry), whole);
  }
}

TEST_F(ProofCache, entry_of_another_fmu_is_none) {
  static_cast<void>(found(write("once")));
  const fs::path entry = entries()[0];
  const std::string of_another = text_of(entry);
  fs::remove(entry);
  const fs::path fmu = write("state_crash", "other.fmu");
  static_cast<void>(found(fmu));
  write_text(entries()[0], of_another);
  EXPECT_FALSE(found(fmu).can.rollback);
}

// Another version may try other things, and an FMU may do other things on another processor.
TEST_F(ProofCache, entry_of_another_version_or_processor_is_none) {
  using subsystem::Prover;
  const subsystem::ProofKey key{"0123", "co-simulation", 0.1, {}};
  subsystem::FmuAbilities abilities;
  abilities.rollback = true;
  subsystem::keep_proof(key, "part.fmu", abilities);
  ASSERT_TRUE(subsystem::kept_proof(key, "part.fmu"));
  EXPECT_TRUE(subsystem::kept_proof(key, "part.fmu")->rollback);
  const Prover& here = Prover::here();
  EXPECT_FALSE(subsystem::kept_proof(key, "part.fmu", {here.version + "1", here.processor}));
  EXPECT_FALSE(subsystem::kept_proof(key, "part.fmu", {here.version, "another"}));
  subsystem::keep_proof(key, "part.fmu", {}, {here.version, "another"});
  EXPECT_TRUE(subsystem::kept_proof(key, "part.fmu")->rollback) << "both have their own";
}

TEST_F(ProofCache, folder_that_cannot_be_written_is_no_error) {
  write_text(cache_, "a file");
  EXPECT_TRUE(found(write("once")).can.rollback);
  EXPECT_TRUE(found(folder_ / "part.fmu").can.rollback);
}

TEST_F(ProofCache, does_not_keep_what_only_took_too_long) {
  const subsystem::ProofKey key{"hash", "co-simulation", 0.1, {}};
  subsystem::FmuAbilities abilities;
  subsystem::keep_proof(key, "part.fmu", abilities);
  EXPECT_TRUE(subsystem::kept_proof(key, "part.fmu"));
  fs::remove_all(cache_);
  abilities.depends_on_load = true;
  subsystem::keep_proof(key, "part.fmu", abilities);
  EXPECT_FALSE(subsystem::kept_proof(key, "part.fmu"));
}

TEST_F(ProofCache, programs_that_write_at_the_same_time_leave_one_whole_entry) {
  const fs::path fmu = write("once");
  ::setenv("ENTRAIN_CACHE", cache_.c_str(), 1);
  std::vector<std::unique_ptr<TemporaryFolder>> folders;
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 4; ++i) {
    folders.push_back(std::make_unique<TemporaryFolder>());
    programs.push_back(std::make_unique<Program>(*folders.back(), std::vector<std::string>{"inspect", fmu.string()}));
  }
  for (auto& program : programs) EXPECT_EQ(program->wait().exit_code, 0);
  ::unsetenv("ENTRAIN_CACHE");
  ASSERT_EQ(entries().size(), 1U);
  static_cast<void>(instances());
  EXPECT_TRUE(found(fmu).can.rollback);
  EXPECT_EQ(instances(), 0U);
}

TEST_F(ProofCache, program_uses_the_folder_of_the_user_and_can_do_without) {
  write("once");
  ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  ::setenv("ENTRAIN_CACHE", "off", 1);
  EXPECT_EQ(run("f3ornits").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "entrain"));
  ::setenv("ENTRAIN_CACHE", "", 1);  // as if it was not set
  EXPECT_EQ(run("f3ornits").exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "entrain/fmus"));
  static_cast<void>(instances());
  EXPECT_EQ(run("f3ornits").exit_code, 0);
  EXPECT_EQ(instances(), 1U) << "that of the run";
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("ENTRAIN_CACHE");
}

TEST_F(ProofCache, run_tries_what_its_method_uses_alone) {
  write("state_crash");
  const auto held = run("jacobi");
  EXPECT_EQ(held.exit_code, 0) << held.err;
  EXPECT_EQ(held.out.find("canGetAndSetFMUstate"), std::string::npos) << held.out;
  EXPECT_EQ(capabilities()["untried"],
            nlohmann::json({"rollback", "linearization", "input_degree", "output_derivative_order", "reset"}));
  const auto all = run("f3ornits");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  expect_text(all.out, "canGetAndSetFMUstate");
  EXPECT_FALSE(capabilities().contains("untried"));
}

TEST_F(ProofCache, written_capability_is_tried_with_any_method) {
  write("state_crash");
  write_text(folder_ / "system.toml",
             "[run]\nstop = 1.0\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\nfmu = \"part.fmu\"\n"
             "input_degree = 1\n");
  const auto result = run_program(folder_, {"run", "system.toml", "--out", "out", "--no-estimate"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(capabilities()["input_degree"], 1);
}

}  // namespace proof_cache_test
}  // namespace entrain::test

// A run that goes on from a checkpoint file makes the same bits as one that was never interrupted: every method, with
// every kind of subsystem.
#include <gtest/gtest.h>

#include <cstring>

#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "session/checkpoint_file.hpp"
#include "support/checkpointed_systems.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"

namespace entrain {
namespace checkpoint_test {

using test::changed;
using test::example_of_kind;
using test::TemporaryFolder;

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// What follows `whole` from a row on.
void expect_rest(const MemoryRecorder& rest, const MemoryRecorder& whole) {
  ASSERT_FALSE(rest.times.empty());
  ASSERT_LT(rest.times.size(), whole.times.size());
  const std::size_t count = rest.times.size();
  EXPECT_TRUE(same_bits(rest.times, std::span(whole.times).last(count)));
  for (std::size_t i = 0; i < whole.columns.size(); ++i) {
    EXPECT_TRUE(same_bits(rest.columns[i], std::span(whole.columns[i]).last(count))) << whole.names[i];
  }
}

/// But for the factorizations: the first step of a resumed run makes one anew.
std::vector<Fact> comparable(std::vector<Fact> notes) {
  std::erase_if(notes, [](const Fact& note) { return note.code == FactCode::CouplingEquations; });
  return notes;
}

void expect_same_summary(const RunSummary& resumed, const RunSummary& whole) {
  EXPECT_EQ(resumed.termination, Termination::Completed) << resumed.message;
  EXPECT_EQ(resumed.macro_steps, whole.macro_steps);
  EXPECT_EQ(resumed.smallest_step, whole.smallest_step);
  EXPECT_EQ(resumed.largest_step, whole.largest_step);
  EXPECT_EQ(resumed.rejected_steps, whole.rejected_steps);
  EXPECT_EQ(resumed.iterations, whole.iterations);
  EXPECT_EQ(resumed.linearizations, whole.linearizations);
  EXPECT_EQ(resumed.max_coupling_residual, whole.max_coupling_residual);
  EXPECT_EQ(resumed.residual_energy(), whole.residual_energy());
  EXPECT_EQ(comparable(resumed.notes), comparable(whole.notes));
  EXPECT_EQ(resumed.warnings, whole.warnings);
  for (std::size_t s = 0; s < whole.subsystems.size(); ++s) {
    EXPECT_EQ(resumed.subsystems[s].steps, whole.subsystems[s].steps);
    EXPECT_EQ(resumed.subsystems[s].trials, whole.subsystems[s].trials);
    EXPECT_EQ(resumed.subsystems[s].rollbacks, whole.subsystems[s].rollbacks);
  }
}

/// Interrupted at half time, and gone on with by another simulation; the first one goes on too.
void interrupt_and_compare(const SystemDescription& description, const Extensions& extensions = {}) {
  const TemporaryFolder folder;
  MemoryRecorder whole({"*"});
  Simulation uninterrupted(description, {}, extensions);
  uninterrupted.observe(whole);
  ASSERT_EQ(uninterrupted.run().termination, Termination::Completed) << uninterrupted.summary().message;

  MemoryRecorder first({"*"});
  Simulation saving(description, {}, extensions);
  saving.observe(first);
  const Time half = saving.run_until(0.5 * (description.start.value + description.stop->value)).reached;
  saving.save(folder / "half.checkpoint", "first");
  EXPECT_EQ(saving.run().termination, Termination::Completed) << saving.summary().message;
  EXPECT_TRUE(same_bits(first.times, whole.times));  // that it was saved cannot be seen
  for (std::size_t i = 0; i < whole.columns.size(); ++i) {
    EXPECT_TRUE(same_bits(first.columns[i], whole.columns[i])) << whole.names[i];
  }

  MemoryRecorder rest({"*"});
  Simulation resumed(description, {}, extensions);
  resumed.observe(rest);
  resumed.resume(folder / "half.checkpoint");
  ASSERT_EQ(resumed.summary().reached, half) << resumed.summary().message;
  EXPECT_EQ(resumed.summary().resumed_from->directory, "first");
  EXPECT_EQ(resumed.summary().resumed_from->time, half);
  resumed.run();
  expect_rest(rest, whole);
  expect_same_summary(resumed.summary(), uninterrupted.summary());
}

struct Case {
  std::string system;
  std::string kind;
  test::MethodVariant variant;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto* system : {"lotka_volterra", "mechanical", "oscillator"}) {
    for (const auto& kind : test::subsystem_kinds()) {
      for (const auto& variant : test::method_variants()) {
        if (test::suits(variant.method, kind)) all.push_back({system, kind, variant});
      }
    }
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.system + "_" + info.param.kind + "_" + info.param.variant.method;
  for (const auto& option : info.param.variant.options) name += "_" + option;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class CheckpointFile : public testing::TestWithParam<Case> {};

TEST_P(CheckpointFile, is_gone_on_from_as_if_nothing_had_happened) {
  const auto& [system, kind, variant] = GetParam();
  const double step = system == "lotka_volterra" ? 0.01 : system == "oscillator" ? 0.02 : 1e-3;
  interrupt_and_compare(
      changed(example_of_kind(system, kind),
              {.method = variant.method, .step = step, .stop = 61.5 * step, .options = variant.options}));
}

INSTANTIATE_TEST_SUITE_P(Every, CheckpointFile, testing::ValuesIn(cases()), name_of);

/// dx/dt = u - x, y = x.
std::unique_ptr<Model> lag(std::string_view name) {
  if (name != "lag") return nullptr;
  return std::make_unique<test::OdeModel>(
      test::OdeModel::Equation{[](double x, double u) { return u - x; }, [](double x, double) { return x; }});
}

class CheckpointOf : public testing::TestWithParam<std::string> {
 protected:
  static SystemDescription two_lags() {
    return changed(test::system_from(R"(
      [run]
      stop = 3.0
      [subsystems.first]
      model = "lag"
      [subsystems.second]
      model = "lag"
      [connections]
      "first.y" = "second.u"
    )"),
                   {.method = GetParam(), .step = 0.05});
  }
};

/// Values that a program sets are in force again, those of before the run and those of since.
TEST_P(CheckpointOf, values_that_were_set_holds_them) {
  const TemporaryFolder folder;
  MemoryRecorder whole({"*"});
  Simulation first(two_lags(), {}, lag);
  first.observe(whole);
  first.set("first.u", 0.25);
  first.run_until(0.5);
  first.set("first.u", 1.0);
  first.run_until(1.5);
  first.save(folder / "c");
  first.run();

  MemoryRecorder rest({"*"});
  Simulation second(two_lags(), {}, lag);
  second.observe(rest);
  second.resume(folder / "c");
  ASSERT_EQ(second.summary().changes.size(), 1U);
  EXPECT_EQ(second.summary().changes[0].time, first.summary().changes[0].time);
  second.run();
  expect_rest(rest, whole);
  second.reset();  // the start value is kept, as it is by the first
  second.run_until(0.5);
  first.reset();
  first.run_until(0.5);
  EXPECT_EQ(second.value("second.y"), first.value("second.y"));
}

TEST_P(CheckpointOf, a_system_with_an_announced_event_goes_on) {
  for (const auto& kind : {"native", "2", "3"}) {
    if (!test::suits(GetParam(), kind)) continue;
    auto description = changed(example_of_kind("two_mass", kind), {.method = GetParam(), .step = 0.01, .stop = 2.0});
    description.subsystems[1].start["change_time"] = {1.3, {}};
    SCOPED_TRACE(kind);
    interrupt_and_compare(description);
  }
}

TEST_P(CheckpointOf, a_scheduled_system_goes_on) {
  auto description =
      changed(example_of_kind("lotka_volterra", "native"), {.method = GetParam(), .step = 0.01, .stop = 1.0});
  description.schedule.push_back({"prey.alpha", {{0.2, 0.9, {}}, {0.4, 0.7, {}}, {0.8, 0.5, {}}}, {}});
  interrupt_and_compare(description);
}

INSTANTIATE_TEST_SUITE_P(Every, CheckpointOf, testing::ValuesIn(method::built_in_methods().names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// y = the integral of u, of a program that embeds the engine.
class Accumulator final : public Subsystem, private Rollback {
 public:
  Accumulator(std::string_view name, bool serializes) : name_(name), serializes_(serializes) {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 1.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    can_.rollback = true;
    can_.feedthrough = Feedthrough(1, 1, false);
  }
  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override {
    Facets facets;
    facets.rollback = this;
    return facets;
  }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override { x_ = 0.5; }
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = x_; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    outputs[0] = x_ += step.size * step.inputs.order(0)[0];
    return {step.from + step.size};
  }

 private:
  StateId save() override { return keep(x_); }
  void restore(StateId id) override { x_ = saved_[static_cast<std::size_t>(id)]; }
  void release(StateId) override { saved_.pop_back(); }
  bool can_serialize() const override { return serializes_; }
  std::vector<std::byte> serialize(StateId id) override {
    std::vector<std::byte> bytes(sizeof(double));
    std::memcpy(bytes.data(), &saved_[static_cast<std::size_t>(id)], sizeof(double));
    return bytes;
  }
  StateId deserialize(std::span<const std::byte> bytes) override {
    double x = 0.0;
    std::memcpy(&x, bytes.data(), sizeof(double));
    return keep(x);
  }
  StateId keep(double x) {
    saved_.push_back(x);
    return static_cast<StateId>(saved_.size() - 1);
  }

  std::string name_;
  bool serializes_;
  double x_ = 0.0;
  std::vector<double> saved_;
  VariableTable table_;
  Capabilities can_;
};

Extensions accumulators() {
  Extensions extensions;
  extensions.subsystems = [](std::string_view kind, std::string_view name) -> std::unique_ptr<Subsystem> {
    if (kind != "kept" && kind != "bound") return nullptr;
    return std::make_unique<Accumulator>(name, kind == "kept");
  };
  return extensions;
}

SystemDescription two_accumulators(const std::string& second) {
  return changed(test::system_from("[run]\nstop = 1.0\n[subsystems.a]\nmodel = \"kept\"\n[subsystems.b]\nmodel = \"" +
                                   second + "\"\n[connections]\n\"a.y\" = \"b.u\"\n\"b.y\" = \"a.u\"\n"),
                 {.method = "jacobi", .step = 0.01});
}

TEST(CheckpointOfUsers, subsystems_goes_on) {
  interrupt_and_compare(two_accumulators("kept"), accumulators());
}

TEST(CheckpointOfUsers, subsystems_that_cannot_be_serialized_is_refused_by_name) {
  const TemporaryFolder folder;
  Simulation simulation(two_accumulators("bound"), {}, accumulators());
  simulation.run_until(0.5);
  try {
    simulation.save(folder / "c");
    FAIL() << "it was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::MissingCapability);
    EXPECT_EQ(error.fact().code, FactCode::NeedsSerialization);
    ASSERT_EQ(error.fact().subjects.size(), 1U);
    EXPECT_TRUE(error.fact().subjects.front().starts_with("'b' ("));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
}

TEST(CheckpointOfUsers, runs_that_have_begun_or_not_is_refused) {
  const TemporaryFolder folder;
  Simulation simulation(two_accumulators("kept"), {}, accumulators());
  EXPECT_THROW(simulation.save(folder / "c"), Error);
  simulation.run_until(0.5);
  simulation.save(folder / "c", "somewhere");
  EXPECT_THROW(simulation.resume(folder / "c"), Error);
  const auto info = read_checkpoint_info(folder / "c");
  EXPECT_EQ(info.version, version());
  EXPECT_EQ(info.directory, "somewhere");
  EXPECT_EQ(info.time, simulation.summary().reached);
}

/// What a method or a subsystem remembers changes with the version.
TEST(CheckpointFiles, of_another_version_is_refused_with_both) {
  const TemporaryFolder folder;
  session::CheckpointContent content;
  content.info.version = "0.0.1";
  session::write_checkpoint(folder / "old", content);
  try {
    (void)read_checkpoint_info(folder / "old");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::CheckpointVersion);
    EXPECT_EQ(error.fact().text("version"), "0.0.1");
    EXPECT_EQ(error.fact().text("known"), version());
  }
  content.info.version = version();
  session::write_checkpoint(folder / "new", content);
  EXPECT_EQ(read_checkpoint_info(folder / "new").version, version());
}

}  // namespace checkpoint_test
}  // namespace entrain

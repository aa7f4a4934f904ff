// What the engine costs beyond the FMUs: a chain of the cheapest FMU there is (y = 0.5 u + 1, FMI 2) stepped by a bare
// loop that makes the calls itself, and by the engine (jacobi, held inputs, nothing recorded), in one run.
#include <dlfcn.h>
#include <zip.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "budget.hpp"
#include "entrain/simulation.hpp"
#include "subsystem/fmi/fmi2_api.h"

namespace {

using namespace entrain;

constexpr double kStep = 0.01;
constexpr fmi2ValueReference kInput = 100;
constexpr fmi2ValueReference kOutput = 200;
constexpr const char* kFmu = ENTRAIN_FMUS "/test/minimal/2/minimal.fmu";
constexpr const char* kLibrary = ENTRAIN_FMU_LIBRARIES "/test/minimal/2/minimal.so";

std::size_t steps_for(std::size_t count) {
  return 4'000'000 / count;
}

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "{}\n", what);
  std::exit(1);
}

std::string guid_of_fmu() {
  zip_t* archive = zip_open(kFmu, ZIP_RDONLY, nullptr);
  if (archive == nullptr) fail("the minimal FMU is missing: build the target 'fmus'");
  std::string text(1000, '\0');
  zip_file_t* file = zip_fopen(archive, "modelDescription.xml", 0);
  zip_fread(file, text.data(), text.size());
  zip_fclose(file);
  zip_discard(archive);
  const auto first = text.find("guid=\"") + 6;
  return text.substr(first, text.find('"', first) - first);
}

void ignore_log(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...) {}

class BareLoop {
 public:
  explicit BareLoop(std::size_t count) : inputs_(count, 0.0), outputs_(count, 0.0) {
    library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) fail(::dlerror());
    find(set_, "fmi2SetReal");
    find(get_, "fmi2GetReal");
    find(do_step_, "fmi2DoStep");
    find(free_, "fmi2FreeInstance");
    fmi2InstantiateTYPE* instantiate = nullptr;
    fmi2SetupExperimentTYPE* set_up = nullptr;
    fmi2EnterInitializationModeTYPE* enter = nullptr;
    fmi2ExitInitializationModeTYPE* exit = nullptr;
    find(instantiate, "fmi2Instantiate");
    find(set_up, "fmi2SetupExperiment");
    find(enter, "fmi2EnterInitializationMode");
    find(exit, "fmi2ExitInitializationMode");
    static const std::string guid = guid_of_fmu();
    for (std::size_t i = 0; i < count; ++i) {
      components_.push_back(
          instantiate("minimal", fmi2CoSimulation, guid.c_str(), nullptr, &callbacks_, fmi2False, fmi2False));
      if (components_[i] == nullptr) fail("the minimal FMU cannot be instantiated");
      check(set_up(components_[i], fmi2False, 0.0, 0.0, fmi2False, 0.0));
      check(enter(components_[i]));
      check(exit(components_[i]));
    }
  }
  ~BareLoop() {
    for (const auto component : components_) free_(component);
    ::dlclose(library_);
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;

  void run(std::size_t steps) {
    const std::size_t count = components_.size();
    for (std::size_t k = 0; k < steps; ++k) {
      const double from = static_cast<double>(k) * kStep;
      for (std::size_t i = 1; i < count; ++i) inputs_[i] = outputs_[i - 1];
      for (std::size_t i = 0; i < count; ++i) {
        check(set_(components_[i], &kInput, 1, &inputs_[i]));
        check(do_step_(components_[i], from, kStep, fmi2True));
        check(get_(components_[i], &kOutput, 1, &outputs_[i]));
      }
    }
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  static void check(fmi2Status status) {
    if (status != fmi2OK) std::abort();
  }

  void* library_ = nullptr;
  fmi2CallbackFunctions callbacks_{ignore_log, nullptr, nullptr, nullptr, nullptr};
  fmi2SetRealTYPE* set_ = nullptr;
  fmi2GetRealTYPE* get_ = nullptr;
  fmi2DoStepTYPE* do_step_ = nullptr;
  fmi2FreeInstanceTYPE* free_ = nullptr;
  std::vector<fmi2Component> components_;
  std::vector<double> inputs_, outputs_;
};

SystemDescription chain_of_fmus(std::size_t count, std::size_t steps) {
  SystemDescription description;
  description.method.value = "jacobi";
  description.name = "chain";
  description.step = {kStep, {}};
  description.stop = {static_cast<double>(steps + 1) * kStep, {}};
  for (std::size_t i = 0; i < count; ++i) {
    SubsystemDescription subsystem;
    subsystem.name = fmt::format("s{}", i);
    subsystem.fmu = kFmu;
    description.subsystems.push_back(std::move(subsystem));
    if (i > 0) description.connections.push_back({fmt::format("s{}.y", i - 1), fmt::format("s{}.u", i), {}, {}});
  }
  return description;
}

struct Seconds {
  double set_up = 1e9;
  double run = 1e9;

  void keep_best(double new_set_up, double new_run) {
    set_up = std::min(set_up, new_set_up);
    run = std::min(run, new_run);
  }
};

void measure_bare(std::size_t count, std::size_t steps, Seconds& best) {
  std::unique_ptr<BareLoop> loop;
  const double set_up = bench::seconds_of([&] {
    loop = std::make_unique<BareLoop>(count);
    loop->run(1);
  });
  best.keep_best(set_up, bench::seconds_of([&] { loop->run(steps); }));
}

/// Initialisation and the first step belong to the set-up, as in the bare loop.
void measure_engine(std::size_t count, std::size_t steps, Seconds& best) {
  const auto description = chain_of_fmus(count, steps);
  std::unique_ptr<Simulation> simulation;
  const double set_up = bench::seconds_of([&] {
    simulation = std::make_unique<Simulation>(description);
    simulation->run_until(kStep);
  });
  best.keep_best(set_up, bench::seconds_of([&] { simulation->run(); }));
  const auto& summary = simulation->summary();
  if (summary.termination != Termination::Completed) fail(summary.message.c_str());
}

}  // namespace

int main() {
  bench::Budgets budgets;
  fmt::print("per macro step and FMU, best of {}\n", bench::kRepetitions);
  for (const std::size_t count : {2U, 10U, 100U, 1000U}) {
    const std::size_t steps = steps_for(count);
    Seconds bare;
    Seconds engine;
    for (int i = 0; i < bench::kRepetitions; ++i) {
      measure_bare(count, steps, bare);
      measure_engine(count, steps, engine);
    }
    const double to_ns = 1e9 / static_cast<double>(steps * count);
    budgets.check(
        fmt::format("N = {:<5} bare loop {:5.1f} ns, engine {:5.1f} ns", count, bare.run * to_ns, engine.run * to_ns),
        engine.run / bare.run, 1.3, "x");
    if (count == 1000) {
      budgets.check(fmt::format("set-up of {} FMUs beyond their own {:.3f} s", count, bare.set_up),
                    engine.set_up - bare.set_up, 0.1, "s");
    }
  }
  return budgets.exit_code();
}

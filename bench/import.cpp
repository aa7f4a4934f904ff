// What it takes to load a large system: 500 FMUs with 5000 connections between them, from the file to the first step.
// The FMU does next to nothing, so nearly all of the time is ours. Once with one archive for all, once with 500
// archives, once with these in a package of SSP, and once with that in another.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/archive.hpp"
#include "budget.hpp"
#include "entrain/convert.hpp"
#include "entrain/entrain.hpp"
#include "wide_fmu.hpp"

namespace {

namespace fs = std::filesystem;
using namespace entrain;

constexpr int kFmus = 500;
using bench::kPorts;

/// Each FMU feeds the next ones, one output to each of the ten behind it.
fs::path system_text(const fs::path& folder, bool one_archive) {
  std::ofstream file(folder / "system.toml");
  file << "[run]\nstop = 1.0\nstep = 0.1\n";
  for (int i = 0; i < kFmus; ++i) {
    file << fmt::format("[subsystems.s{}]\nfmu = \"{}.fmu\"\n", i, one_archive ? 0 : i);
  }
  file << "[connections]\n";
  for (int i = 0; i < kFmus; ++i) {
    for (int k = 0; k < kPorts; ++k) file << fmt::format("\"s{}.y{}\" = \"s{}.u{}\"\n", i, k, (i + k + 1) % kFmus, k);
  }
  return folder / "system.toml";
}

constexpr const char* kOuter =
    R"(<SystemStructureDescription version="1.0" name="outer"><System name="s"><Elements>
  <Component name="inner" type="application/x-ssp-package" source="system.ssp"/></Elements></System>
  <DefaultExperiment stopTime="1"/></SystemStructureDescription>)";

double seconds_to_load(const fs::path& system) {
  return bench::seconds_of([&] {
    Simulation simulation(load(system));
    if (simulation.run_until(0.1).termination != Termination::Running) std::exit(1);
  });
}

}  // namespace

int main() {
  std::string pattern = (fs::temp_directory_path() / "entrain-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 1;
  const fs::path folder = pattern;
  for (int i = 0; i < kFmus; ++i) {
    if (i == 0)
      bench::write_wide_fmu(ENTRAIN_WIDE_FMU, folder / "0.fmu");
    else
      fs::copy_file(folder / "0.fmu", folder / fmt::format("{}.fmu", i));
  }
  bench::Budgets budgets;
  const auto check = [&](std::string_view what, const fs::path& system) {
    double best = seconds_to_load(system);
    for (int repetition = 1; repetition < bench::kRepetitions; ++repetition) {
      best = std::min(best, seconds_to_load(system));
    }
    budgets.check(fmt::format("{} FMUs, {} connections, {}", kFmus, kFmus * kPorts, what), best, 2.0, "s");
  };
  check("one archive", system_text(folder, true));
  const fs::path system = system_text(folder, false);
  check("500 archives", system);
  convert(system, folder / "system.ssp");
  check("500 archives in one .ssp", folder / "system.ssp");
  base::write_archive(folder / "outer.ssp",
                      {{"SystemStructure.ssd", kOuter, {}}, {"system.ssp", {}, folder / "system.ssp"}});
  check("500 archives in a .ssp in a .ssp", folder / "outer.ssp");
  fs::remove_all(folder);
  return budgets.exit_code();
}

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/recording.hpp"
#include "entrain/reproduce.hpp"
#include "entrain/run_summary.hpp"
#include "entrain/system_description.hpp"

namespace entrain::reproducing {

/// A shipped system file, with the FMUs of its models if the example requests it.
SystemDescription load_example(const Example& example, std::string_view method, double step);

/// Runs it as `entrain run FILE --method M --step H --option ...` would and keeps chosen signals. Throws Error when the
/// run does not complete.
MemoryRecorder run_example(const Example& example, std::string_view method, double step,
                           const std::vector<std::string>& signals, const std::vector<std::string>& options = {});

/// The same for a system at hand.
MemoryRecorder run_system(SystemDescription description, const std::vector<std::string>& signals,
                          const std::vector<std::string>& options = {});

struct CompletedRun {
  MemoryRecorder record;
  RunSummary summary;
};
/// As run_example, with any change of the description, and with the summary.
CompletedRun run_changed(const Example& example, std::string_view method,
                         const std::function<void(SystemDescription&)>& change,
                         const std::vector<std::string>& signals);

/// Of our integration where the FMUs are used by model exchange.
inline constexpr double kReproducedExchangeTolerance = 1e-12;

/// The same system with the FMU of each built-in model in its place: "a.b" is FOLDER/a_b.fmu. Throws Error{FileFailed}
/// when one is missing.
SystemDescription with_fmus(SystemDescription description, const FmuSet& fmus);

/// With the FMUs of the models if they are to be used.
SystemDescription as_asked(SystemDescription description, const Examples& examples);

/// The error metric of the papers' tables: 100 rms(values - reference) / (max - min of the reference).
double percent_error(const std::vector<double>& values, const std::vector<double>& reference);

}  // namespace entrain::reproducing

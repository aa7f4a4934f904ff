// Every verb of the program, called by a program outside with the installed headers only. The pieces of code in
// docs/embedding.md are parts of these functions; run.cmake compares them.
#include <algorithm>
#include <cmath>
#include <entrain/entrain.hpp>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

namespace fs = std::filesystem;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

void check_and_change(const fs::path& system, const fs::path& folder) {
  for (const auto& problem : entrain::check(system)) std::cerr << to_string(problem) << '\n';
  auto description = entrain::load(system);
  description.step = {0.01, {}};
  entrain::apply_set(description, "prey.alpha=0.7");
  entrain::save(description, folder / "changed.toml");

  expect(entrain::check(description).empty(), "no problems of the description");
  expect(entrain::parse(entrain::system_text(description), "text.toml").step->value == 0.01, "the text as a system");
  const auto again = entrain::load(folder / "changed.toml");
  expect(again.step->value == 0.01 && !entrain::has_errors(entrain::check(folder / "changed.toml")),
         "saved as changed");
}

void show_inspection(const entrain::SystemDescription& description) {
  const auto inspection = entrain::inspect(description);
  for (const auto& subsystem : inspection.subsystems) {
    std::cout << subsystem.name << " has " << subsystem.variables.outputs.size() << " outputs\n";
  }
  for (const auto& method : entrain::methods()) {
    std::cout << method.traits.name << ": order " << method.traits.order << ", " << method.options.size()
              << " options\n";
  }

  expect(inspection.subsystems.size() == 2 && inspection.methods.size() == entrain::methods().size(), "inspected");
  expect(entrain::inspect_initial(description).size() == 2, "two inputs");
  expect(entrain::inspection_json(inspection).find("\"prey\"") != std::string::npos, "JSON of the inspection");
}

void record_to_memory(const entrain::SystemDescription& description) {
  entrain::Simulation simulation(description);
  entrain::MemoryRecorder recorded({"prey.*"});
  simulation.observe(recorded);
  const auto& summary = simulation.run();
  std::cout << to_string(summary.termination) << ", most prey " << *std::ranges::max_element(recorded.column("prey.p"))
            << '\n';

  expect(recorded.times.size() == recorded.column("prey.p").size() && recorded.times.size() > 2, "rows");
}

void record_to_file(const entrain::SystemDescription& description, const fs::path& folder) {
  entrain::Simulation simulation(description);
  entrain::RecordDescription record;
  record.format = {std::string(entrain::kHdf5Format), {}};
  record.interval = {0.5, {}};
  entrain::Recorder recorder(folder / "results.h5", record);
  simulation.observe(recorder);
  simulation.run();

  const auto results = entrain::read_results(folder / "results.h5");
  expect(results.times(*results.find("prey.p")).back() == description.stop->value, "rows to the stop time");
}

void step_and_keep(const entrain::SystemDescription& description, const fs::path& folder) {
  entrain::Simulation simulation(description);
  entrain::ResultsRecorder recorder;
  simulation.observe(recorder);
  expect(simulation.advance().reached == 0.0 && simulation.advance().reached == 0.01, "the start, then a step");
  const auto& summary = simulation.run();
  const auto results = recorder.take();
  expect(results.find("prey.p")->values.size() == summary.macro_steps + 1 && results.axes.size() == 1, "all rows");
  entrain::write_results(results, folder / "kept.csv");
  const auto read = entrain::read_results(folder / "kept.csv");
  expect(read.find("prey.p")->values == results.find("prey.p")->values && read.axes == results.axes, "the same bits");
}

void run_and_judge(const entrain::SystemDescription& description, const fs::path& folder) {
  const entrain::LongCallWatch long_calls([](const entrain::Fact& call) { std::cerr << render(call) << '\n'; });
  entrain::RunDirectoryOptions options;
  options.folder = folder / "run";
  const auto run = entrain::run(description, options);
  std::cout << run.verdict.headline() << ": " << run.results.string() << '\n';

  const auto results = entrain::read_results(folder / "run");
  for (const auto& column : results.columns) {
    std::cout << column.name << " ends at " << column.values.back() << " " << column.unit << '\n';
  }
  const auto verdict = entrain::verdict(folder / "run");
  if (verdict.grade != entrain::Grade::Trusted) std::cout << entrain::render(verdict.reasons.front()) << '\n';

  expect(run.summary.termination == entrain::Termination::Completed, "the run completes");
  expect(verdict.headline() == run.verdict.headline(), "the folder is judged as the run was");
  for (const auto* file : {"run.json", "steps.json", "results.csv", "system.resolved.toml"}) {
    expect(fs::exists(folder / "run" / file), std::string(file) + " is written");
  }
}

void sweep_over(const entrain::SystemDescription& description, const fs::path& folder) {
  entrain::SweepOptions options;
  options.sweep.vary = {{"prey.alpha", "0.6, 0.7", {}}};
  options.estimate = false;
  options.folder = folder / "sweep";
  const auto result = entrain::sweep(description, options);
  expect(result.cases.size() == 2 && result.cases[0].termination == "completed", "a sweep");
  expect(entrain::merge_sweeps({folder / "sweep"}, folder / "merged").cases.size() == 2, "a merged sweep");
  expect(!entrain::sweep_json(result).empty(), "a sweep as JSON");
  entrain::write_sweep_page(result, folder / "sweep.html");
}

void pace_and_control(entrain::SystemDescription description, const fs::path& folder) {
  description.real_time = {100.0, {}};  // simulated seconds per second
  entrain::RunDirectoryOptions paced;
  paced.folder = folder / "paced";
  paced.progress.begun = [](const entrain::RunResult& begun) {
    entrain::RunControl control(begun.folder);  // of a run of any process of the same user
    std::cout << control.request(R"({"command": "subscribe", "every": 0.1})") << '\n';
  };
  const auto result = entrain::run(description, paced);
  std::cout << result.summary.pacing->missed << " deadlines missed\n";

  expect(result.summary.termination == entrain::Termination::Completed, "the paced run completes");
  expect(result.verdict.grade == entrain::Grade::Unknown, "a paced run is graded unknown");
  expect(entrain::with_stand_ins(description).subsystems.size() == description.subsystems.size(), "nothing is outside");
}

void take_advice(entrain::SystemDescription description, const fs::path& folder) {
  description.tolerance = {1e-4, {}};  // of the range: what the recommended method and step keep
  entrain::AdviceSettings settings;
  settings.verify = true;
  const auto advice = entrain::advise(description, settings);
  if (advice.choice) {
    std::cout << advice.candidates[*advice.choice].title() << ", because " << advice.reason() << '\n';
    entrain::save(entrain::applied(description, advice), folder / "advised.toml");
  }

  expect(advice.choice && fs::exists(folder / "advised.toml"), "an advice");
  expect(entrain::advice_json(advice).find("\"candidates\"") != std::string::npos, "JSON of the advice");
}

void show_verification(const entrain::SystemDescription& description) {
  const auto verification = entrain::verify(description);
  for (const auto& output : verification.outputs) {
    std::cout << output.name << ": " << to_string(output.verdict) << ", error bar " << output.error_bar.value_or(NAN)
              << '\n';
  }
  const auto grade = verification.grade({.usual = 0.05});

  expect(grade == entrain::Grade::Trusted, "the verification");
  expect(entrain::verification_json(verification, grade).find("\"confirmed\": true") != std::string::npos, "JSON");
}

void show_comparison(const entrain::SystemDescription& description, const fs::path& folder) {
  auto finer = description;
  finer.step = {description.step->value / 10, {}};
  entrain::RunDirectoryOptions options;
  options.folder = folder / "finer";
  entrain::run(finer, options);
  const auto comparison = entrain::compare({folder / "run"}, folder / "finer");
  const auto& worst = comparison.differences.front();
  std::cout << worst.name << " differs by " << worst.difference.max << " at " << worst.difference.at << " s\n";

  expect(worst.difference.max > 0.0 && comparison.runs.size() == 2, "a difference");
}

void learn_and_correct(const fs::path& system, const fs::path& folder) {
  auto description = entrain::load(system);
  entrain::LearnOptions options;
  options.iterations = 5;
  const auto learning = entrain::learn(description, options);
  entrain::save_learned(learning.learned, folder / "learned.json");

  const auto learned = entrain::read_learned(folder / "learned.json");
  description = entrain::with_learned(description, learned);
  entrain::Simulation corrected(description, {.learned = &learned});
  corrected.run();

  expect(corrected.summary().correction.has_value(), "a corrected run");
  expect(entrain::learning_json(learning).find("\"iterations\"") != std::string::npos, "JSON of the learning");
}

void convert_systems(const fs::path& system, const fs::path& fmus, const fs::path& folder) {
  entrain::convert(system, folder / "converted.toml");
  entrain::new_system(folder / "plant", {fmus / "mechanical_left.fmu", fmus / "mechanical_right.fmu"});
  entrain::convert(folder / "plant", folder / "plant.ssp");

  expect(!entrain::has_errors(entrain::check(folder / "converted.toml")), "what was converted");
  expect(entrain::load(folder / "plant.ssp").subsystems.size() == 2, "the package");
}

void write_report(const fs::path& folder) {
  entrain::report(folder / "run", folder / "report.html");
}

/// A build without npm has no pages; then that is the message.
void check_report(const fs::path& folder) {
  try {
    entrain::require_pages();
  } catch (const entrain::Error&) {
    return;
  }
  write_report(folder);
  expect(fs::file_size(folder / "report.html") > 0, "a report");
}

}  // namespace

/// verbs EXAMPLES FMUS FOLDER
int main(int, char** arguments) {
  const fs::path examples = arguments[1];
  const fs::path folder = arguments[3];
  fs::create_directories(folder);
  try {
    check_and_change(examples / "lotka_volterra", folder);
    const auto description = entrain::load(folder / "changed.toml");
    show_inspection(description);
    record_to_memory(description);
    record_to_file(description, folder);
    step_and_keep(description, folder);
    run_and_judge(description, folder);
    pace_and_control(description, folder);
    take_advice(description, folder);
    sweep_over(description, folder);
    show_verification(description);
    show_comparison(description, folder);
    learn_and_correct(examples / "learning", folder);
    convert_systems(folder / "changed.toml", arguments[2], folder);
    check_report(folder);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  std::cout << "all verbs done\n";
  return 0;
}

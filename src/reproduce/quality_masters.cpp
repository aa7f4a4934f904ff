#include "reproduce/quality_masters.hpp"

#include <fmt/format.h>

#include "analysis/linearize.hpp"
#include "analysis/measures.hpp"
#include "coupling/engine.hpp"
#include "reproduce/measure.hpp"
#include "session/prepare.hpp"

namespace entrain::reproducing {

std::string_view name(Master master) {
  switch (master) {
    case Master::Seidel12: return "Seidel12";
    case Master::Seidel21: return "Seidel21";
    case Master::Control12: return "Control12";
    case Master::Control21: return "Control21";
    case Master::Jacobi: break;
  }
  return "Jacobi";
}

CouplingChoice choice(Master master, Duration step, int degree, const Gains& gains) {
  const std::vector<std::size_t> force_first{0, 1};
  const std::vector<std::size_t> motion_first{1, 0};
  const bool first = master == Master::Seidel12 || master == Master::Control12;
  if (master == Master::Jacobi) return method::parallel_choice(2, degree, step);
  auto result = method::sequential_choice(first ? force_first : motion_first, degree, step);
  if (master == Master::Control12) result.gains = {gains.position, gains.velocity, 0.0};
  if (master == Master::Control21) result.gains = {0.0, 0.0, gains.force};
  return result;
}

LinearNetwork oscillator_network(const Examples& examples) {
  const auto description = load_example(examples / "oscillator", "gauss-seidel", 1.0);
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  if (!prepared.system) throw Error(std::move(problems));
  prepared.system->engine().initialize(prepared.settings.start, prepared.settings.stop);
  auto linear = analysis::linearized(*prepared.system);
  if (!linear.network) throw Error(ErrorCode::MissingCapability, linear.obstacles.front());
  return std::move(*linear.network);
}

Quality quality(const LinearNetwork& network, const CouplingChoice& of) {
  return analysis::evaluate_all({&network, 1}, {&of, 1}, 1).front();
}

double radius(const LinearNetwork& network, const CouplingChoice& of) {
  const auto steps = analysis::subsystem_steps(network, of.step, of.degree);
  return analysis::step_radius(analysis::StepProgram(network, steps, of));
}

MemoryRecorder run_master(const Examples& examples, const MasterRun& of) {
  const Master master = of.master;
  const bool control = master == Master::Control12 || master == Master::Control21;
  const std::string_view method = control ? "nepce" : master == Master::Jacobi ? "jacobi" : "gauss-seidel";
  auto description = load_example(examples / "oscillator", method, of.step);
  description.stop = {of.stop, {}};
  const bool first = master == Master::Seidel12 || master == Master::Control12;
  std::vector<std::string> options{fmt::format("degree={}", of.degree)};
  if (master != Master::Jacobi) {
    options.emplace_back(first ? "sequence=[\"force_side\", \"motion_side\"]"
                               : "sequence=[\"motion_side\", \"force_side\"]");
  }
  if (control) options.push_back("start=\"constant\"");
  if (master == Master::Control12) {
    options.push_back(
        fmt::format("gains={{\"force_side.x\"={}, \"force_side.v\"={}}}", kPaperGains.position, kPaperGains.velocity));
  }
  if (master == Master::Control21) options.push_back(fmt::format("gains={{\"motion_side.F\"={}}}", kPaperGains.force));
  return run_system(std::move(description), kOscillatorSignals, options);
}

}  // namespace entrain::reproducing

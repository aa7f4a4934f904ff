#include "entrain/coupled_system.hpp"

#include <algorithm>

#include "coupling/engine.hpp"

namespace entrain {

CoupledSystem::CoupledSystem(std::unique_ptr<coupling::Engine> engine)
    : engine_(std::move(engine)),
      graph_(&engine_->graph()),
      outputs_(engine_->store().outputs()),
      signals_(std::as_const(engine_->store()).signals()),
      inputs_(std::as_const(engine_->store()).inputs()) {}
CoupledSystem::~CoupledSystem() = default;

const Capabilities& CoupledSystem::capabilities(SubsystemId s) const {
  return engine_->subsystem(s).capabilities();
}
const VariableTable& CoupledSystem::variables(SubsystemId s) const {
  return engine_->subsystem(s).variables();
}
Facets CoupledSystem::facets(SubsystemId s) {
  return engine_->facets(s);
}
Time CoupledSystem::time_of(SubsystemId s) const {
  return engine_->executor().time_of(s);
}
bool CoupledSystem::all_at(Time t) const {
  return engine_->executor().all_at(t);
}
double CoupledSystem::incoming(InputId input) const {
  return engine_->store().incoming(input);
}
std::span<double> CoupledSystem::coefficients(SubsystemId s, int degree, int p) {
  return engine_->store().coefficients(s, degree, p);
}
void CoupledSystem::hold_all_inputs() {
  engine_->store().hold_all_inputs();
}
void CoupledSystem::set_corrections(std::span<const double> by_input) {
  engine_->store().set_corrections(by_input);
}
void CoupledSystem::follow_inputs(SubsystemId s) {
  engine_->follow_inputs(s);
}

void CoupledSystem::replace_output(OutputId output, double value) {
  engine_->store().replace_output(output, value);
}
void CoupledSystem::post(std::span<const StepTask> tasks) {
  engine_->executor().post(tasks);
}
void CoupledSystem::wait() {
  engine_->executor().wait();
}
void CoupledSystem::commit_all(std::span<const StepTask> tasks) {
  engine_->executor().run({.tasks = tasks});
}
void CoupledSystem::commit_everyone(const CommonStep& common) {
  engine_->executor().run(common);
}
void CoupledSystem::evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                                 std::span<double> all_outputs) {
  engine_->evaluate_all(batch, all_inputs, all_outputs);
}
void CoupledSystem::linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results) {
  engine_->linearize_all(batch, results);
}
void CoupledSystem::refresh_signals(Time t) {
  engine_->refresh_signals(t);
}
void CoupledSystem::solve_loops(Time t) {
  engine_->solve_loops(t);
}
Time CoupledSystem::next_event(SubsystemId s, Time t) {
  return std::min(engine_->next_event(s, t), engine_->next_instant(t));
}
Time CoupledSystem::commit_to_event(std::span<StepTask> tasks) {
  return engine_->commit_to_event(tasks);
}
bool CoupledSystem::has_instants() const {
  return engine_->events() != nullptr;
}
void CoupledSystem::publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs) {
  engine_->publish(t, all_inputs, all_outputs);
}
void CoupledSystem::request_stop(SubsystemId s) {
  engine_->executor().request_stop(s);
}
void CoupledSystem::read_states(std::span<double> all) {
  engine_->read_states(all);
}
void CoupledSystem::read_state_derivatives(std::span<double> all) {
  engine_->read_state_derivatives(all);
}
void CoupledSystem::read_output_slopes(std::span<double> all) {
  engine_->read_output_slopes(all);
}
std::size_t CoupledSystem::states() const {
  return engine_->states();
}
IdRange<std::size_t> CoupledSystem::states_of(SubsystemId s) const {
  return engine_->states_of(s);
}
CoupledSystem::Counters CoupledSystem::counters(SubsystemId s) const {
  return engine_->executor().counters(s);
}
double CoupledSystem::Counters::seconds() const {
  const double in_trials =
      sampled_trials == 0 ? 0.0 : trial_seconds * static_cast<double>(trials) / static_cast<double>(sampled_trials);
  if (sampled_steps == 0) return in_trials + first_seconds;
  return in_trials + first_seconds +
         sampled_seconds * static_cast<double>(steps - 1) / static_cast<double>(sampled_steps);
}
CoupledSystem::Saved CoupledSystem::save() {
  return engine_->save();
}
void CoupledSystem::save(std::span<const SubsystemId> some, Saved& saved) {
  engine_->save(some, saved);
}
void CoupledSystem::restore(const Saved& saved) {
  engine_->restore(saved);
}
void CoupledSystem::release(const Saved& saved) {
  engine_->release(saved);
}

}  // namespace entrain

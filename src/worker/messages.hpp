#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/facts/error_record.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/capabilities.hpp"
#include "entrain/simulation.hpp"
#include "entrain/system_description.hpp"
#include "worker/mailbox.hpp"

namespace entrain {

// Types of public headers as bytes (base/bytes.hpp).

template <class Visitor, class T>
void visit_fields(Visitor& visit, Written<T>& written) {
  base::visit_fields(visit, written.where);
  visit(written.value);
}

template <class Visitor>
void visit_fields(Visitor& visit, OptionalStart& start) {
  base::visit_fields(visit, start.where);
  visit(start.value, start.unit);
}

template <class Visitor>
void visit_fields(Visitor& visit, SubsystemDescription& description) {
  visit(description.name, description.model, description.fmu, description.csv, description.start,
        description.optional_start);
  description::for_each_subsystem_key([&](const auto& key) { visit(description.*key.field); });
  for (auto* where : {&description.where, &description.model_where, &description.fmu_where, &description.csv_where})
    base::visit_fields(visit, *where);
}

template <class Visitor>
void visit_fields(Visitor& visit, UnitMeaning& meaning) {
  visit(meaning.exponents, meaning.factor, meaning.offset);
}

template <class Visitor>
void visit_fields(Visitor& visit, Variable& variable) {
  visit(variable.name, variable.unit, variable.description, variable.type, variable.start, variable.meaning,
        variable.declared_type, variable.tunable, variable.other_names, variable.clocks, variable.mime_type);
  auto items = variable.items ? std::optional(*variable.items) : std::nullopt;
  visit(items);
  if (items && !variable.items) variable.items = std::make_shared<const EnumerationItems>(std::move(*items));
}

template <class Visitor>
void visit_fields(Visitor& visit, OtherPort& port) {
  visit(port.name, port.type);
}

template <class Visitor>
void visit_fields(Visitor& visit, ClockPort& clock) {
  visit(clock.name, clock.is_output, clock.kind);
}

template <class Visitor>
void visit_fields(Visitor& visit, ClockInterval& interval) {
  visit(interval.counter, interval.resolution);
}

template <class Visitor>
void visit_fields(Visitor& visit, Terminal& terminal) {
  visit(terminal.name, terminal.kind, terminal.rule, terminal.members);
}

template <class Visitor>
void visit_fields(Visitor& visit, VariableTable::Place& place) {
  visit(place.causality, place.index);
}

template <class Visitor>
void visit_fields(Visitor& visit, VariableTable& table) {
  visit(table.inputs, table.outputs, table.states, table.parameters, table.discrete_inputs, table.discrete_outputs,
        table.locals, table.other_ports, table.clocks, table.terminals);
}

template <class Visitor>
void visit_fields(Visitor& visit, Feedthrough& feedthrough) {
  std::uint64_t outputs = feedthrough.outputs();
  std::uint64_t inputs = feedthrough.inputs();
  std::vector<std::uint8_t> depends;
  for (std::size_t y = 0; y < outputs; ++y) {
    for (std::size_t u = 0; u < inputs; ++u) depends.push_back(feedthrough(y, u) ? 1 : 0);
  }
  visit(outputs, inputs, depends);
  const bool fits = inputs == 0 ? depends.empty() : depends.size() % inputs == 0 && depends.size() / inputs == outputs;
  if (!fits) throw Error(ErrorCode::FileFailed, {FactCode::SavedDataForeign});
  Feedthrough result(outputs, inputs);
  for (std::size_t k = 0; k < depends.size(); ++k) result.set(k / inputs, k % inputs, depends[k] != 0);
  feedthrough = result;
}

template <class Visitor>
void visit_fields(Visitor& visit, CapabilityUse& use) {
  visit(use.rollback, use.linearization, use.input_degree, use.output_derivatives, use.reset);
}

template <class Visitor>
void visit_fields(Visitor& visit, Capabilities& can) {
  visit(can.rollback, can.input_degree, can.output_derivative_order, can.states, can.state_derivatives,
        can.linearization, can.output_refresh, can.equations, can.announces_events, can.reset, can.function,
        can.once_per_process, can.calling_thread, can.imposed_step, can.step_offset, can.min_step, can.max_step,
        can.initial_step, can.internal_step, can.substeps, can.feedthrough, can.tried);
}

template <class Visitor>
void visit_fields(Visitor& visit, LogMessage& message) {
  visit(message.subsystem, message.time, message.category, message.text);
}

template <class Visitor>
void visit_fields(Visitor& visit, Matrix& matrix) {
  visit(matrix.rows, matrix.cols, matrix.values);
}

template <class Visitor>
void visit_fields(Visitor& visit, Linearization& linearization) {
  visit(linearization.A, linearization.B, linearization.C, linearization.D);
}

}  // namespace entrain

namespace entrain::worker {

/// What a worker is to make, as far as it depends on the system.
struct MakeRequest {
  SubsystemDescription description;
  Time start = 0.0;
  std::optional<Time> stop;
  std::optional<Duration> step;  ///< the macro step
  bool needs_equations = false;
  bool logs_everything = false;
  bool loads = false;                   ///< of an FMU: its library is loaded at once, not when it is first called
  std::string fmu_folder;               ///< where the FMU lies unpacked already; empty = nowhere
  std::map<std::string, Variable> fed;  ///< of a table
  bool alone = false;                   ///< of an FMU: its events concern no other one
  std::string cache_folder;             ///< empty = nothing is kept
  CapabilityUse uses;                   ///< of an FMU: what is tried
  bool sandboxed = false;               ///< it runs where no process can be started
  bool only_tried = false;              ///< it makes no run: what it prints is nothing that the user asked for

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(description, start, stop, step, needs_equations, logs_everything, loads, fmu_folder, fed, alone, cache_folder,
          uses, sandboxed, only_tried);
  }
};

/// What became of it; `problems` of a subsystem that was not made say why.
struct MadeSubsystem {
  bool made = false;
  std::vector<Problem> problems;
  VariableTable variables;
  base::Segment box;  ///< its mailbox, with the numbers behind it

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(made, problems, variables, box);
  }
};

/// Of what the worker reports: the sentences are looked up by code.
inline void require_known(const Fact& fact) {
  if (static_cast<std::size_t>(fact.code) < fact_catalogue().size()) return;
  throw Error(ErrorCode::FileFailed, {FactCode::SavedDataForeign});
}
inline void require_known(const std::vector<Problem>& problems) {
  for (const auto& problem : problems) require_known(problem.fact);
}

/// What a subsystem can do there, and which facets it has.
struct SubsystemAbilities {
  Capabilities capabilities;
  bool rollback = false, serializes = false, states = false, linearizer = false, output_derivatives = false;
  bool events = false, reset = false, tuning = false, discrete = false, inner = false;
  bool event_mode = false, remote = false, held = false;
  bool equations = false, reads_input_derivatives = false, wants_completed_steps = false;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(capabilities, rollback, serializes, states, linearizer, output_derivatives, events, reset, tuning, discrete,
          inner, event_mode, remote, held, equations, reads_input_derivatives, wants_completed_steps);
  }
};

/// What a worker sends over its socket, besides the end of file.
enum class Speech : std::uint32_t {
  Log,    ///< a LogMessage
  Fault,  ///< an ErrorRecord: the last one
};

}  // namespace entrain::worker

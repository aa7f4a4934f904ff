#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/linear_network.hpp"
#include "analysis/search.hpp"
#include "entrain/recording.hpp"
#include "entrain/reproduce.hpp"

namespace entrain::reproducing {

/// The masters of Glumac and Kovacic (2019), table 1, and the parallel one.
enum class Master { Seidel12, Seidel21, Control12, Control21, Jacobi };
std::string_view name(Master master);

struct Gains {
  double position = 0.0;  // alpha_1 of Control12, on the displacement input
  double velocity = 0.0;  // alpha_2, on the velocity input
  double force = 0.0;     // alpha of Control21
};
inline constexpr Gains kPaperGains{0.59, 0.36, 0.6};

CouplingChoice choice(Master master, Duration step, int degree = 0, const Gains& gains = kPaperGains);

/// The shipped two-mass oscillator, linearized: force side first, outputs F, x, v.
LinearNetwork oscillator_network(const Examples& examples);

Quality quality(const LinearNetwork& network, const CouplingChoice& of);
double radius(const LinearNetwork& network, const CouplingChoice& of);

/// A real run of it with one of the masters.
struct MasterRun {
  Master master;
  int degree = 0;
  Duration step = 0.0;
  Time stop = 0.0;
};
inline const std::vector<std::string> kOscillatorSignals{"motion_side.x", "motion_side.v", "force_side.F"};
MemoryRecorder run_master(const Examples& examples, const MasterRun& of);

}  // namespace entrain::reproducing

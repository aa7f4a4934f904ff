#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <random>

#include "truth/catalogue.hpp"
#include "truth/truth.hpp"

namespace entrain::truth {
namespace {

/// The same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

struct Matrices {
  Eigen::MatrixXd A, B, C, D;
};

Part linear_part(std::string name, const Matrices& m, std::vector<double> start) {
  Part part;
  part.name = std::move(name);
  part.inputs = ports("u", static_cast<std::size_t>(m.B.cols()));
  part.outputs = ports("y", static_cast<std::size_t>(m.C.rows()));
  part.start = std::move(start);
  for (Eigen::Index i = 0; i < m.D.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.D.cols(); ++j) {
      if (m.D(i, j) != 0.0) part.direct.emplace_back(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
  }
  part.equations = equations([m](const auto& at) {
    const auto row = [&](const Eigen::MatrixXd& of_x, const Eigen::MatrixXd& of_u, Eigen::Index i) {
      auto sum = 0.0 * at.t;
      for (Eigen::Index j = 0; j < of_x.cols(); ++j) sum += of_x(i, j) * at.x[j];
      for (Eigen::Index j = 0; j < of_u.cols(); ++j) sum += of_u(i, j) * at.u[j];
      return sum;
    };
    for (Eigen::Index i = 0; i < m.A.rows(); ++i) at.dx[i] = row(m.A, m.B, i);
    for (Eigen::Index i = 0; i < m.C.rows(); ++i) at.y[i] = row(m.C, m.D, i);
  });
  return part;
}

/// Largest real part of the eigenvalues of the whole system.
double growth_of(const System& system) {
  WholeSystem whole(system);
  const std::size_t n = whole.states();
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  std::vector<double> x(n, 0.0), dx(n);
  for (std::size_t j = 0; j < n; ++j) {
    x[j] = 1.0;
    whole.derivatives(0.0, x.data(), dx.data());
    x[j] = 0.0;
    for (std::size_t i = 0; i < n; ++i) matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = dx[i];
  }
  return matrix.eigenvalues().real().maxCoeff();
}

struct RandomChoice {
  std::size_t parts = 2;
  std::vector<double> rates;  ///< 1/s, of each part
  double damping = 0.3;       ///< of its oscillation
  double coupling = 1.0;
};

/// Each part an oscillation and, if there is a third state, a decay, in random coordinates; each input is fed by an
/// output of the part before, every second one back. The coupling is weakened until the whole is stable.
System random_linear(const std::string& name, std::uint64_t seed, const RandomChoice& choice) {
  Random random(seed);
  System system;
  system.name = name;
  system.kind = "linear";
  system.linear = true;
  for (std::size_t p = 0; p < choice.parts; ++p) {
    const Eigen::Index n = random.between(0.0, 1.0) < 0.5 ? 2 : 3;
    const double rate = choice.rates[p % choice.rates.size()];
    Eigen::MatrixXd modes = Eigen::MatrixXd::Zero(n, n);
    modes(0, 0) = modes(1, 1) = -choice.damping * rate;
    modes(0, 1) = rate;
    modes(1, 0) = -rate;
    if (n == 3) modes(2, 2) = -rate * random.between(0.5, 1.5);
    Matrices m;
    Eigen::MatrixXd turn(n, n);
    m.B.resize(n, 2);
    m.C.resize(2, n);
    m.D = Eigen::MatrixXd::Zero(2, 2);
    const auto fill = [&](Eigen::MatrixXd& matrix, double size) {
      for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) matrix(i, j) = random.between(-size, size);
      }
    };
    fill(turn, 0.4);
    turn += Eigen::MatrixXd::Identity(n, n);
    fill(m.B, rate);
    fill(m.C, 1.0);
    m.A = turn * modes * turn.inverse();
    std::vector<double> start;
    for (Eigen::Index i = 0; i < n; ++i) start.push_back(random.between(-1.0, 1.0));
    system.parts.push_back(linear_part(std::string(1, static_cast<char>('a' + p)), m, start));
  }
  const std::size_t count = choice.parts;
  for (std::size_t p = 0; p < count; ++p) {
    system.links.push_back({p, 0, (p + 1) % count, 0, choice.coupling});
    system.links.push_back({(p + 1) % count, 1, p, 1, choice.coupling});
  }
  while (growth_of(system) > -0.3 * choice.damping * choice.rates.front()) {
    for (auto& link : system.links) link.factor *= 0.8;
  }
  return system;
}

/// One state each, y = x, in a ring: x_p' = a_p x_p + b_p x_(p-1).
System ring(const std::string& name, const std::vector<double>& a, const std::vector<double>& b) {
  System system;
  system.name = name;
  system.kind = "linear";
  system.linear = true;
  for (std::size_t p = 0; p < a.size(); ++p) {
    Matrices m;
    m.A = Eigen::MatrixXd::Constant(1, 1, a[p]);
    m.B = Eigen::MatrixXd::Constant(1, 1, b[p]);
    m.C = Eigen::MatrixXd::Identity(1, 1);
    m.D = Eigen::MatrixXd::Zero(1, 1);
    system.parts.push_back(linear_part(std::string(1, static_cast<char>('a' + p)), m, {p == 0 ? 1.0 : 0.0}));
    system.links.push_back({p, 0, (p + 1) % a.size(), 0});
  }
  return system;
}

/// Two parts whose outputs follow their inputs at once: the gain around the loop is `gain`.
System loop(const std::string& name, double gain) {
  const double g = std::sqrt(std::abs(gain));
  Matrices one, two;
  one.A = Eigen::MatrixXd::Constant(1, 1, -1.0);
  one.B = Eigen::MatrixXd::Constant(1, 1, 1.0);
  one.C = Eigen::MatrixXd::Constant(1, 1, 1.0);
  one.D = Eigen::MatrixXd::Constant(1, 1, g);
  two = one;
  two.A *= 2.0;
  two.B *= gain < 0.0 ? 2.0 : -1.5;
  two.D *= gain < 0.0 ? -1.0 : 1.0;
  System system;
  system.name = name;
  system.kind = "loop";
  system.linear = true;
  system.parts = {linear_part("one", one, {1.0}), linear_part("two", two, {-0.5})};
  system.links = {{0, 0, 1, 0}, {1, 0, 0, 0}};
  return system;
}

void add_random(std::vector<System>& list) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RandomChoice choice{2 + seed % 3, {1.0, 1.7, 0.8}, 0.1 + 0.08 * static_cast<double>(seed), 1.0};
    list.push_back(timed(random_linear(fmt::format("random_{}", seed), seed, choice), 20.0, {0.2, 0.05, 0.01}));
  }
  for (std::uint64_t seed = 11; seed <= 13; ++seed) {
    const RandomChoice choice{3, {1.0, 30.0, 300.0}, 0.5, 1.0};
    list.push_back(timed(random_linear(fmt::format("several_rates_{}", seed - 10), seed, choice), 6.0, {0.01, 0.002}));
  }
  for (std::uint64_t seed = 21; seed <= 22; ++seed) {
    const RandomChoice choice{2, {2.0}, 0.005, 0.3};
    list.push_back(timed(random_linear(fmt::format("light_random_{}", seed - 20), seed, choice), 40.0, {0.1, 0.02}));
  }
}

}  // namespace

System mass_pair(const std::string& name, const Spring& s) {
  Matrices motion, force;
  motion.A.resize(2, 2);
  motion.A << 0.0, 1.0, -s.c1 / s.m1, -s.d1 / s.m1;
  motion.B.resize(2, 1);
  motion.B << 0.0, 1.0 / s.m1;
  motion.C = Eigen::MatrixXd::Identity(2, 2);
  motion.D = Eigen::MatrixXd::Zero(2, 1);
  force.A.resize(2, 2);
  force.A << 0.0, 1.0, -(s.c2 + s.ck) / s.m2, -(s.d2 + s.dk) / s.m2;
  force.B.resize(2, 2);
  force.B << 0.0, 0.0, s.ck / s.m2, s.dk / s.m2;
  force.C.resize(1, 2);
  force.C << s.ck, s.dk;
  force.D.resize(1, 2);
  force.D << -s.ck, -s.dk;
  System system =
      coupled(name, "linear", {linear_part("motion", motion, {s.x1, s.v1}), linear_part("force", force, {s.x2, s.v2})},
              {{0, 0, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}});
  system.linear = true;
  return system;
}

void add_linear(std::vector<System>& list) {
  add_random(list);
  const auto light = [](double dk) {
    return Spring{.c1 = 4.0, .d1 = 0.004, .c2 = 1.0, .d2 = 0.002, .ck = 2.0, .dk = dk};
  };
  list.push_back(timed(mass_pair("light_pair", light(0.002)), 60.0, {0.1, 0.02}));
  list.push_back(timed(mass_pair("light_pair_damper", light(0.4)), 40.0, {0.1, 0.02}));
  const Spring mechanical{5.0, 1e4, 10.0, 80.0, 1e5, 40.0, 1e4, 10.0, 1.0, 0.0, 3.0, 0.0};
  list.push_back(timed(mass_pair("mechanical", mechanical), 2.0, {1e-3, 2.5e-4}));
  const Spring strong{2.0, 50.0, 0.0, 3.0, 30.0, 0.0, 20000.0, 60.0, 0.0, 1.0, 0.0, 0.0};
  list.push_back(timed(mass_pair("strong_spring", strong), 2.0, {1e-3, 2.5e-4}));
  const Spring driven{1.0, 9.0, 0.3, 2.0, 4.0, 0.1, 1.0, 0.05, 1.0, 0.0, -1.0, 0.5};
  list.push_back(timed(mass_pair("weak_spring", driven), 20.0, {0.1, 0.02}));
  list.push_back(timed(ring("pair", {-1.0, -0.4}, {-2.0, 3.0}), 10.0, {0.1, 0.02, 0.005}));
  list.push_back(timed(ring("triangle", {-1.0, -0.5, -0.8}, {-1.5, 1.2, 1.0}), 12.0, {0.1, 0.02}));
  list.push_back(
      timed(ring("ring_of_five", {-1.0, -2.0, -0.5, -1.5, -0.7}, {-1.2, 1.0, 1.0, 1.5, 0.8}), 12.0, {0.1, 0.02}));
  list.push_back(of_kind(timed(ring("stiff_pair", {-1000.0, -1.0}, {1000.0, -2.0}), 4.0, {0.01, 0.002}), "stiff"));
  list.push_back(
      of_kind(timed(ring("stiff_ring", {-400.0, -1.0, -2000.0}, {400.0, -1.5, 2000.0}), 4.0, {0.01, 0.002}), "stiff"));
  for (const double gain : {0.5, -0.5, 0.9, -0.9}) {
    list.push_back(timed(loop(fmt::format("loop_{}", gain), gain), 6.0, {0.05, 0.01}));
  }
  const Spring undamped{.c1 = 1.0, .c2 = 1.5, .ck = 0.3};
  list.push_back(of_kind(timed(mass_pair("undamped_1e5", undamped), 1e5, {5.0, 0.5}), "long"));
  list.push_back(of_kind(timed(mass_pair("undamped_1e3", undamped), 1e3, {0.5, 0.1}), "long"));
  list.push_back(of_kind(timed(ring("growing_saddle", {0.4, -1.0}, {0.3, 0.5}), 12.0, {0.1, 0.02}), "growing"));
  const Spring negative{.c1 = 4.0, .d1 = -0.3, .c2 = 1.0, .d2 = 0.05, .ck = 1.0, .dk = 0.1};
  list.push_back(of_kind(timed(mass_pair("growing_pair", negative), 20.0, {0.05, 0.01}), "growing"));
}

}  // namespace entrain::truth

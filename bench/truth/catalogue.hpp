#pragma once

#include <string>
#include <utility>
#include <vector>

#include "truth/system.hpp"

/// What the files of the catalogue share.
namespace entrain::truth {

struct Shape {
  std::string name;
  std::size_t inputs, outputs;
  std::vector<double> start;
  std::vector<std::pair<std::size_t, std::size_t>> direct = {};
};

template <class Function>
Part part(const Shape& shape, Function function) {
  Part result;
  result.name = shape.name;
  result.inputs = ports("u", shape.inputs);
  result.outputs = ports("y", shape.outputs);
  result.start = shape.start;
  result.direct = shape.direct;
  result.equations = equations(function);
  return result;
}

System coupled(std::string name, std::string kind, std::vector<Part> parts, std::vector<Link> links);
System timed(System system, double stop, std::vector<double> steps);
System of_kind(System system, const std::string& kind);

/// Two parts of one port each.
inline const std::vector<Link> kPair = {{0, 0, 1, 0}, {1, 0, 0, 0}};

struct Spring {
  double m1 = 1.0, c1 = 1.0, d1 = 0.0;  ///< the mass that outputs its motion, tied to the ground
  double m2 = 1.0, c2 = 1.0, d2 = 0.0;  ///< the mass that outputs a force
  double ck = 1.0, dk = 0.0;            ///< between them
  double x1 = 1.0, v1 = 0.0, x2 = 0.0, v2 = 0.0;
};
/// wall ~ motion ~ force ~ wall; the force follows the motion at once.
System mass_pair(const std::string& name, const Spring& spring);

}  // namespace entrain::truth

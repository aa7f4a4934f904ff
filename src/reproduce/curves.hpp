#pragma once

#include <functional>
#include <string>
#include <vector>

#include "entrain/recording.hpp"
#include "entrain/reproduce.hpp"

namespace entrain::reproducing {

/// A line of a page needs no more points and digits than can be seen: of many points the lowest and the highest of
/// each of some hundred intervals are kept. Values that are not finite are left out.
ReproduceCurve line(std::string name, const std::vector<double>& x, const std::vector<double>& y);

/// A signal over time, from `from` to `to`.
ReproduceCurve course(std::string name, const MemoryRecorder& run, const std::string& signal, Time from = 0.0,
                      Time to = 1e300);

/// What a function gives at these places.
ReproduceCurve curve_of(std::string name, const std::vector<double>& x, const std::function<double(double)>& value);

ReproduceCurve printed_points(std::string name, std::vector<double> x, std::vector<double> y);
/// A straight line between two points.
ReproduceCurve guide(std::string name, std::vector<double> x, std::vector<double> y);
/// "order 3" through the last point of a curve, over all of its x: in logarithmic axes a straight line.
ReproduceCurve order_guide(double order, const ReproduceCurve& beside);

/// As numpy.logspace(low, high, count) and numpy.linspace.
std::vector<double> logspace(double low, double high, int count);
std::vector<double> linspace(double low, double high, int count);

}  // namespace entrain::reproducing

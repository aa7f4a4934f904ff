#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entrain/estimator.hpp"
#include "entrain/model.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

class Method;

/// Makes a model from its name; nullptr when it does not know the name.
using ModelFactory = std::function<std::unique_ptr<Model>(std::string_view name)>;

/// Makes a subsystem for `model = "kind"`; nullptr when it does not know the kind. A subsystem that only steps is
/// enough: no equations, no linearization, no facets.
using SubsystemFactory = std::function<std::unique_ptr<Subsystem>(std::string_view kind, std::string_view name)>;

/// Makes a coupling method; its traits contain its name.
using MethodFactory = std::function<std::unique_ptr<Method>()>;

/// What a program adds to the built-in models, subsystems, methods and estimators. Copied where it is kept.
struct Extensions {
  ModelFactory models = {};          ///< asked before the built-in models
  SubsystemFactory subsystems = {};  ///< asked before `models`
  std::vector<MethodFactory> methods = {};
  std::vector<NamedEstimator> estimators = {};  ///< for `estimator = "name"` of a subsystem

  Extensions() = default;
  /// Models alone are the most frequent case.
  template <std::convertible_to<ModelFactory> Factory>
  Extensions(Factory factory) : models(std::move(factory)) {}  // NOLINT(google-explicit-constructor)

  template <class M>
  Extensions& add_method() {
    methods.push_back([] { return std::make_unique<M>(); });
    return *this;
  }
  Extensions& add_estimator(std::string name, EstimatorFactory make) {
    estimators.push_back({std::move(name), std::move(make)});
    return *this;
  }
};

}  // namespace entrain

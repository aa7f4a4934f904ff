#pragma once

#include <atomic>
#include <exception>

namespace entrain::advising {

/// Leaves a part of the work that takes long, from between two of its evaluations.
class PartInterrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// Whether the user wants the advice as far as it is known.
class Interruption {
 public:
  /// The flag is borrowed; null = never.
  explicit Interruption(const std::atomic<bool>* flag) : flag_(flag) {}
  bool asked() const { return flag_ != nullptr && flag_->load(); }
  /// Throws PartInterrupted.
  void check() const {
    if (asked()) throw PartInterrupted();
  }
  const std::atomic<bool>* flag() const { return flag_; }

 private:
  const std::atomic<bool>* flag_;
};

}  // namespace entrain::advising

#include "cli/checkpoints.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "cli/common.hpp"
#include "description/system_file.hpp"
#include "results/file_error.hpp"

namespace entrain::cli {
namespace {

constexpr double kTimeRounding = 1e-9;  // of the interval

}  // namespace

void CheckpointArguments::add(CLI::App& command) {
  auto* written =
      command.add_option("--checkpoint", file, "Write a file from which the run can be continued")->type_name("FILE");
  command.add_option("--every", every, "Simulated seconds between checkpoints (default: one at the end)")
      ->type_name("T")
      ->check(positive_number())
      ->needs(written);
  auto* from = command.add_option("--resume", resumed, "Go on from a checkpoint file; SYSTEM may be left out")
                   ->type_name("FILE");
  command.add_flag("--append", append, "Go on in the results of the run that wrote the checkpoint")->needs(from);
}

SystemDescription described_by(const CheckpointInfo& checkpoint) {
  std::vector<Problem> problems;
  auto description = parse_system(checkpoint.system_file, "checkpoint", problems);
  if (!problems.empty()) throw Error(std::move(problems));
  description.name = checkpoint.name;
  return description;
}

void CheckpointArguments::check(const Simulation& simulation) const {
  if (resumed) simulation.check_resume(*resumed);
  if (!file) return;
  simulation.require_serialization();
  const auto folder = std::filesystem::absolute(*file).parent_path();
  if (!std::filesystem::is_directory(folder)) throw file_error("cannot create", *file, ENOENT);
}

std::uint64_t CheckpointWriter::multiples_until(Time t, const RunSummary& summary) const {
  return static_cast<std::uint64_t>(std::floor((t - summary.start) / *arguments_.every + kTimeRounding));
}

void CheckpointWriter::communicated(const Sample& sample, const RunSummary& summary) {
  if (!arguments_.file || !arguments_.every) return;
  const auto passed = multiples_until(sample.t, summary);
  if (passed <= written_) return;
  written_ = passed;
  write();
}

void CheckpointWriter::resume(const Sample& sample, const RunSummary& summary, std::span<const std::byte>) {
  if (arguments_.every) written_ = multiples_until(sample.t, summary);
}

void CheckpointWriter::write_last(const RunSummary& summary, bool interrupted) {
  const bool at_end = summary.termination == Termination::Completed && !arguments_.every;
  const bool by_user = summary.termination == Termination::Interrupted && interrupted;
  if (arguments_.file && (at_end || by_user)) write();
}

void CheckpointWriter::write() {
  simulation_.save(*arguments_.file, directory_);
}

}  // namespace entrain::cli

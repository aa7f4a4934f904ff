#include "cli/launcher.hpp"

#include <cstdlib>
#include <initializer_list>

namespace entrain::cli {
namespace {

/// The first of these variables that is set, as a number.
int number_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return otherwise;
}

}  // namespace

int launched_ranks() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMIX_RANK") == nullptr) return 1;
  return number_of({"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}

int launched_rank() {
  return number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}, 0);
}

}  // namespace entrain::cli

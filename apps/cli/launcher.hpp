#pragma once

namespace entrain::cli {

/// Processes that a launcher of MPI (mpirun, srun --mpi=pmix) started together with this one; 1 without a launcher.
int launched_ranks();
/// Which of them this is.
int launched_rank();

}  // namespace entrain::cli

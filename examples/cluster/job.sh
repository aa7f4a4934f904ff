#!/bin/sh
#SBATCH --job-name=chain
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:05:00
#SBATCH --signal=TERM@30
srun --mpi=pmix entrain run "$(dirname "$0")" --out chain-result --overwrite

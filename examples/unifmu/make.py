#!/usr/bin/env python3
"""Makes adder.fmu, the example FMU that UniFMU brings along: pip install unifmu==0.0.3 protobuf==3.20.3 grpcio, then python3 make.py."""
import pathlib
import shutil

from unifmu.generate import generate_fmu_from_backend

here = pathlib.Path(__file__).resolve().parent
generate_fmu_from_backend(backend="python", output_path=here / "adder")
shutil.make_archive(here / "adder", "zip", here / "adder")
(here / "adder.zip").rename(here / "adder.fmu")
shutil.rmtree(here / "adder")

# Installs the library into a folder of the build tree, builds the consumer against it and runs it.
# Needs BUILD, SOURCE, EXAMPLES, WORK.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(code)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer ${EXAMPLES}/lotka_volterra)
if(NOT output MATCHES "completed at t = 20 s, prey 0\\.7[89]")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
run(${WORK}/build/registration)
message(STATUS "${output}")
run(${WORK}/prefix/bin/entrain reproduce missiles.table6)  # finds the installed examples
run(${WORK}/prefix/bin/entrain reproduce missiles.table6 --fmu)  # and FMUs

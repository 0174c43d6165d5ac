# Installs this build, builds the consumer against the installed package alone,
# and checks what its programs print. Called by ctest with BUILD and SOURCE.

set(work "${BUILD}/test/Install")
file(REMOVE_RECURSE "${work}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(status)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

function(expect program text)
  execute_process(COMMAND "${work}/build/${program}" RESULT_VARIABLE status
    OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(status OR NOT out STREQUAL text)
    message(FATAL_ERROR "${program}: status ${status}, printed '${out}${err}', expected '${text}'")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${work}/first")
# A package that names its prefix would not survive this.
file(RENAME "${work}/first" "${work}/prefix")
run(${CMAKE_COMMAND} -S "${SOURCE}/test/Install/consumer" -B "${work}/build" -G Ninja
  -DCMAKE_PREFIX_PATH=${work}/prefix -DMLIR_DIR=${MLIR_DIR} -DLLVM_DIR=${LLVM_DIR})
run(${CMAKE_COMMAND} --build "${work}/build")

# CuTe DSL 4.8.1 gives its NVFP4 128x128 kernel of sm_107a with K = 128 this word.
expect(core-consumer "idesc 0x08200488\nstored 42\n")
expect(mlir-consumer "dialect blockscale\n")

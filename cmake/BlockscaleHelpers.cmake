# Helpers for the product's own targets.
#
# blockscale_add_library(Name SOURCES... [LINK libs...] [PRECOMPILE header])  no MLIR below it
# blockscale_add_mlir_library(Name SOURCES... [DEPENDS t...] [LINK libs...])
# blockscale_add_tool(name SOURCES... [LINK libs...] [PRECOMPILE header])      installed
# blockscale_add_unittest(name SOURCES... [LINK libs...] [PRECOMPILE header] [OPTIMISE])
#                                                               GoogleTest, run by ctest
#
# PRECOMPILE names a header of headers, relative to the tree's root, where the usual
# one would not do.
#
# Libraries are static archives of position-independent objects. MLIR libraries
# name no MLIR archive: each tool decides whether it links libMLIR.so
# (blockscale_link_mlir_shared) or the static archives (blockscale_link_mlir_static),
# never both.

# Installed libraries are in one of two export sets: Core needs neither MLIR nor
# LLVM, MLIR needs find_package(MLIR) in the consumer (see BlockscaleConfig.cmake.in).

set(BLOCKSCALE_WARNINGS -Wall -Wextra -Wno-unused-parameter)
# `#pragma GCC ivdep` is a hint that clang does not have; the deprecated name is
# libstdc++'s own, in std::stable_sort.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND BLOCKSCALE_WARNINGS -Wno-unknown-pragmas -Wno-deprecated-declarations)
endif()
if(BLOCKSCALE_WERROR)
  list(APPEND BLOCKSCALE_WARNINGS -Werror)
endif()

# The headers of the tree and of the build; after installation, the installed ones.
function(blockscale_install_library name set)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name} EXPORT Blockscale${set}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_EXPORT_SETS ${set})
endfunction()

function(blockscale_add_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILE" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_PRECOMPILE)
    set(ARG_PRECOMPILE cmake/PrecompiledCore.h)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  blockscale_precompile(${name} ${ARG_PRECOMPILE})
  add_library(Blockscale::${name} ALIAS ${name})
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_LINK MATCHES "(^|;)(LLVM|MLIR)")
    blockscale_install_library(${name} MLIR)
  else()
    blockscale_install_library(${name} Core)
  endif()
endfunction()

function(blockscale_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(Blockscale::${name} ALIAS ${name})
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  blockscale_precompile(${name} cmake/PrecompiledMlir.h)
  blockscale_install_library(${name} MLIR)
endfunction()

# Headers take longer to read than our own code to compile: the first target that
# names a header of headers reads it once, the others reuse the result. A precompiled
# header has paths of its checkout in it, so that a cache of objects has them for this
# checkout only: with ccache it is used where reading takes longest, for MLIR.
function(blockscale_precompile name header)
  if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT header MATCHES "Mlir")
    return()
  endif()
  get_property(first GLOBAL PROPERTY "BLOCKSCALE_PRECOMPILED ${header}")
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  else()
    target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/${header}")
    set_property(GLOBAL PROPERTY "BLOCKSCALE_PRECOMPILED ${header}" ${name})
  endif()
  target_compile_options(${name} PRIVATE
    -fPIC # programs reuse what a library read
    "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>" # ccache asks for it, and for the next
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

function(blockscale_link_mlir_shared name)
  target_link_libraries(${name} PRIVATE MLIR LLVM)
endfunction()

# The static archives start without the dynamic linker's work on libMLIR.so; the
# tool names the archives it needs (MLIR...), LLVM components, and the product's own
# archives that stand on them (OWN).
function(blockscale_link_mlir_static name)
  cmake_parse_arguments(ARG "" "" "MLIR;LLVM;OWN" ${ARGN})
  list(TRANSFORM ARG_OWN REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  llvm_map_components_to_libnames(llvm_libs ${ARG_LLVM})
  # Each MLIR archive names libLLVM.so as its interface; link files, not targets.
  blockscale_mlir_archives(archives ${ARG_MLIR})
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${ARG_OWN} ${archives} -Wl,--end-group ${llvm_libs})
  target_link_options(${name} PRIVATE -Wl,--gc-sections)
endfunction()

# The archives of the named MLIR libraries and of all that they depend on.
function(blockscale_mlir_archives out)
  set(todo ${ARGN})
  set(seen)
  set(files)
  while(todo)
    list(POP_FRONT todo lib)
    if(lib IN_LIST seen OR NOT TARGET ${lib} OR NOT lib MATCHES "^MLIR.")
      continue()
    endif()
    list(APPEND seen ${lib})
    get_target_property(type ${lib} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND files $<TARGET_FILE:${lib}>)
    endif()
    get_target_property(deps ${lib} INTERFACE_LINK_LIBRARIES)
    if(deps)
      string(REGEX REPLACE "\\$<LINK_ONLY:([^>]*)>" "\\1" deps "${deps}")
      list(APPEND todo ${deps})
    endif()
  endwhile()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(blockscale_add_tool name)
  cmake_parse_arguments(ARG "" "PRECOMPILE" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_PRECOMPILE)
    set(ARG_PRECOMPILE cmake/PrecompiledCore.h)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  blockscale_precompile(${name} ${ARG_PRECOMPILE})
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
  set_property(GLOBAL APPEND PROPERTY BLOCKSCALE_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

function(blockscale_add_unittest name)
  cmake_parse_arguments(ARG "OPTIMISE" "PRECOMPILE" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_PRECOMPILE)
    blockscale_precompile(${name} ${ARG_PRECOMPILE})
  elseif(NOT ARG_OPTIMISE) # headers are read again for other flags
    blockscale_precompile(${name} test/Unit/PrecompiledTest.h)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  target_compile_options(${name} PRIVATE ${BLOCKSCALE_WARNINGS})
  target_compile_definitions(${name} PRIVATE BLOCKSCALE_TEST_DIR="${PROJECT_SOURCE_DIR}/test")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test/Unit")
  # Two shards a program, not a process a case: there are thousands. The cases are
  # counted from the reports (tools/lint/count_tests.py).
  set(reports "${CMAKE_BINARY_DIR}/test/Unit/reports")
  foreach(shard 0 1)
    add_test(NAME ${name}.${shard} COMMAND ${name} --gtest_brief=1
      "--gtest_output=xml:${reports}/${name}.${shard}.xml")
    set_tests_properties(${name}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

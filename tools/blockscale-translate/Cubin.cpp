//===- Cubin.cpp - PTX text to a cubin with ptxas -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cubin.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace blockscale;

std::string blockscale::findPtxas(const char *program) {
  if (auto path = llvm::sys::Process::GetEnv("BLOCKSCALE_PTXAS"))
    return *path;
  if (auto path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  // <build>/bin/blockscale-translate -> <build>/venv/lib/python3.X/site-packages/…
  llvm::SmallString<128> folder(llvm::sys::fs::getMainExecutable(program, (void *)findPtxas));
  llvm::sys::path::remove_filename(folder);
  llvm::sys::path::append(folder, "..", "venv", "lib");
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    llvm::SmallString<128> path(it->path());
    llvm::sys::path::append(path, "site-packages", "nvidia", "cu13", "bin");
    llvm::sys::path::append(path, "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return path.str().str();
  }
  return "";
}

facts::Result<std::string> blockscale::assemblePtx(const std::string &ptxas, const std::string &ptx,
                                                   facts::Arch arch) {
  llvm::SmallString<128> input, output, log;
  if (llvm::sys::fs::createTemporaryFile("blockscale", "ptx", input) ||
      llvm::sys::fs::createTemporaryFile("blockscale", "cubin", output) ||
      llvm::sys::fs::createTemporaryFile("blockscale", "log", log))
    return facts::Refusal{"cubin_c1: a temporary folder must be writable, got an error"};
  llvm::FileRemover removeInput(input), removeOutput(output), removeLog(log);
  std::error_code error;
  {
    llvm::raw_fd_ostream stream(input, error);
    stream << ptx;
  }
  std::string target = "-arch=" + std::string(facts::name(arch));
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  int status = llvm::sys::ExecuteAndWait(ptxas, {ptxas, target, input, "-o", output},
                                         /*Env=*/std::nullopt, redirects);
  auto read = [](llvm::StringRef path) -> std::string {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  if (status != 0)
    return facts::Refusal{"cubin_c2: ptxas must take the PTX, got: " +
                          llvm::StringRef(read(log)).split('\n').first.str()};
  return read(output);
}

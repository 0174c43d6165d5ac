//===- MlirMode.cpp - compiles and executes a function of an MLIR file ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are checked against the function's signature as the input gives it, so
// that a message speaks of the caller's shapes, not of packed bytes.
//
//===----------------------------------------------------------------------===//

#include "HostHeap.h"
#include "MlirCompile.h"
#include "Options.h"
#include "Report.h"
#include "Values.h"
#include "blockscale/Dialect/Blockscale/IR/ScheduleRules.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Support/Npy.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace blockscale::run {

using rt::Array;

namespace {

Result<std::vector<Array>> loadArguments(const Options &options, const Program &program) {
  if (options.args.size() != program.argTypes.size())
    return Refusal{"run: --arg must be given for each of the " +
                   std::to_string(program.argTypes.size()) + " arguments of @" + options.entry +
                   ", got " + std::to_string(options.args.size())};
  std::vector<Array> arrays;
  for (size_t i = 0; i < options.args.size(); ++i) {
    std::string subject = "run: argument " + std::to_string(i) + " of @" + options.entry;
    if (!options.args[i].name.empty())
      return Refusal{subject + " must be given by position, got name '" + options.args[i].name +
                     "'"};
    Result<FileForm> form = getFileForm(program.argTypes[i], subject);
    if (!form)
      return form.takeRefusal();
    Result<Array> array = rt::loadArray(options.args[i].file);
    if (!array)
      return array.takeRefusal();
    if (Result<bool> status = checkForm(*form, *array, subject); !status)
      return Refusal{status.message() + " from '" + options.args[i].file + "'"};
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Result<std::vector<FileForm>> resultForms(const Options &options, const Program &program) {
  std::vector<FileForm> forms;
  for (size_t i = 0; i < program.resultTypes.size(); ++i) {
    std::string subject = "run: result " + std::to_string(i) + " of @" + options.entry;
    auto memref = dyn_cast<MemRefType>(program.resultMemrefs[i]);
    if (!memref)
      return Refusal{subject + " must be a tensor or a memref, got a scalar"};
    Result<FileForm> form = getFileForm(program.resultTypes[i], subject);
    if (!form)
      return form.takeRefusal();
    if (Result<bool> status = checkMemory(*form, memref, subject); !status)
      return status.takeRefusal();
    forms.push_back(std::move(*form));
  }
  if (options.outs.size() > forms.size())
    return Refusal{"run: --out must be given for at most the " + std::to_string(forms.size()) +
                   " results of @" + options.entry + ", got " +
                   std::to_string(options.outs.size())};
  for (const FileArg &out : options.outs)
    if (!out.name.empty())
      return Refusal{"run: --out must be given by position, got name '" + out.name + "'"};
  return forms;
}

/// The results of a call lie as descriptors one after the other.
class Results {
public:
  explicit Results(const Program &program) {
    size_t words = 0;
    for (Type type : program.resultMemrefs)
      words += descriptorWords(cast<MemRefType>(type).getRank());
    descriptors.resize(words);
    address = descriptors.data();
  }

  void **argument() { return &address; }

  /// Copies what the descriptors point at.
  Result<std::vector<Array>> read(const Program &program,
                                  const std::vector<FileForm> &forms) const {
    std::vector<Array> arrays;
    const int64_t *next = descriptors.data();
    for (size_t i = 0; i < forms.size(); ++i) {
      auto memref = cast<MemRefType>(program.resultMemrefs[i]);
      int64_t rank = memref.getRank();
      int64_t elementBytes = memref.getElementTypeBitWidth() / 8;
      const uint8_t *data = reinterpret_cast<const uint8_t *>(next[1]) + next[2] * elementBytes;
      Array array{forms[i].type, forms[i].shape, {}};
      if (int64_t(array.shape.size()) == rank)
        for (int64_t d = 0; d < rank; ++d)
          if (array.shape[d] == -1)
            array.shape[d] = next[3 + d];
      std::optional<uint64_t> bytes = rt::byteSize(array.type, array.shape);
      if (!bytes)
        return Refusal{"run: result " + std::to_string(i) + " must have a possible size, got " +
                       rt::formatShape(array.shape)};
      array.bytes.assign(data, data + *bytes);
      arrays.push_back(std::move(array));
      next += descriptorWords(rank);
    }
    return arrays;
  }

private:
  std::vector<int64_t> descriptors;
  void *address;
};

Result<std::vector<Array>> callOnce(const Options &options, Program &program,
                                    const std::vector<Array> &arrays,
                                    const std::vector<FileForm> &forms) {
  std::vector<Value> values;
  for (size_t i = 0; i < arrays.size(); ++i) {
    Result<Value> value =
        Value::argument(program.argMemrefs[i], arrays[i], "run: argument " + std::to_string(i));
    if (!value)
      return value.takeRefusal();
    values.push_back(std::move(*value));
  }
  Results results(program);
  std::vector<void *> packed;
  if (!forms.empty())
    packed.push_back(results.argument());
  for (Value &value : values)
    packed.push_back(value.address());
  if (llvm::Error error = program.engine->invokePacked("_mlir_ciface_" + options.entry, packed)) {
    std::string text = llvm::toString(std::move(error));
    return Refusal{"run: host code must run, got " + StringRef(text).split('\n').first.str()};
  }
  if (rt::Session::current()->hasFailed())
    return std::vector<Array>(); // end() says why
  return results.read(program, forms);
}

Result<bool> compareBits(const std::vector<Array> &first, const std::vector<Array> &other,
                         const std::string &firstMode, const std::string &mode) {
  for (size_t i = 0; i < first.size(); ++i)
    for (size_t byte = 0; byte < first[i].bytes.size(); ++byte)
      if (first[i].bytes[byte] != other[i].bytes[byte])
        return Refusal{"run: result " + std::to_string(i) +
                       " must have the same bits under every timing, got another byte " +
                       std::to_string(byte) + " under " + mode + " than under " + firstMode};
  return true;
}

} // namespace

Result<bool> runMlir(const Options &options) {
  Result<facts::Arch> arch = findAnyTarget(options.arch);
  if (!arch)
    return arch.takeRefusal();
  if (std::string refusal = checkSchedulePins(options.pins); !refusal.empty())
    return Refusal{refusal};
  // Found before the compiler starts: a wrong path or device.
  if (Result<std::string> text = rt::readFile(options.input, "run"); !text)
    return text.takeRefusal();
  auto session = rt::Session::open(options.device, options.run);
  if (!session)
    return session.takeRefusal();
  (*session)->preferredCluster = options.preferredCluster;

  std::unique_ptr<MLIRContext> context = makeContext();
  Result<Program> program =
      compile(*context, {options.input, options.entry, *arch, options.check, options.pins});
  if (!program)
    return program.takeRefusal();
  Result<std::vector<FileForm>> forms = resultForms(options, *program);
  if (!forms)
    return forms.takeRefusal();
  Result<std::vector<Array>> arguments = loadArguments(options, *program);
  if (!arguments)
    return arguments.takeRefusal();
  for (const auto &[name, ptx] : program->ptx) {
    if (!options.emitPtx.empty())
      if (Result<bool> status = rt::writeFile(options.emitPtx, ptx, "run"); !status)
        return status;
    std::string file = options.emitPtx.empty() ? name + ".ptx" : options.emitPtx;
    if (Result<bool> status = (*session)->addModule(name, ptx, file); !status)
      return status;
  }

  Report report;
  report.device = (*session)->deviceDescription();
  report.arch = options.arch;
  report.entry = options.entry;
  report.plans = program->plans;
  report.isCheckAsked = options.check;
  std::vector<Array> first;
  for (const RunMode &mode : getRunModes(options)) {
    if (Result<bool> status = (*session)->setOptions(mode.options); !status)
      return status;
    (*session)->begin();
    (*session)->repeat = report.runs.empty() ? options.repeat : 0;
    (*session)->warmup = options.warmup;
    Result<std::vector<Array>> results = callOnce(options, *program, *arguments, *forms);
    releaseHostHeap();
    Result<bool> status = (*session)->end();
    if (report.runs.empty()) {
      report.launches = (*session)->launches();
      takeMedians(report, options.repeat);
    }
    addWarnings(report, (*session)->launches());
    if (!results)
      return results.takeRefusal();
    if (!status) {
      report.isCheckAsked &= !report.launches.empty(); // the error says why nothing ran
      printReport(report);
      return status;
    }
    if (report.runs.empty())
      first = std::move(*results);
    else if (status = compareBits(first, *results, report.runs.front(), mode.name); !status)
      return status;
    report.runs.push_back(mode.name);
  }

  printReport(report);
  for (size_t i = 0; i < options.outs.size(); ++i) {
    if (Result<bool> status = rt::writeNpy(options.outs[i].file, first[i]); !status)
      return status;
    if (first[i].type == rt::DType::bf16)
      llvm::outs() << "note: '" << options.outs[i].file
                   << "' holds bf16 bits as uint16 (view as ml_dtypes.bfloat16)\n";
  }
  return options.report.empty() ? Result<bool>(true) : writeReport(report, options.report);
}

} // namespace blockscale::run

//===- Session.cpp - one run of compiled host code ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Session.h"

namespace blockscale::rt {

namespace {
thread_local Session *currentSession = nullptr;
} // namespace

Result<std::unique_ptr<Session>> Session::open(const std::string &device,
                                               const bsrt_options &options) {
  bsrt_device *opened = nullptr;
  if (bsrt_device_open(device.c_str(), &options, &opened))
    return Refusal{bsrt_error_message()};
  return std::unique_ptr<Session>(new Session(opened));
}

Session::~Session() {
  if (currentSession == this)
    currentSession = nullptr;
  for (const auto &module : modules)
    bsrt_module_close(module.second);
  bsrt_device_close(device);
}

Result<bool> Session::setOptions(const bsrt_options &options) {
  if (bsrt_device_set_options(device, &options))
    return Refusal{bsrt_error_message()};
  return true;
}

Result<bool> Session::addModule(const std::string &name, std::string_view ptx,
                                const std::string &fileName) {
  bsrt_module *module = nullptr;
  if (bsrt_module_load(device, ptx.data(), ptx.size(), fileName.c_str(), &module))
    return Refusal{bsrt_error_message()};
  bsrt_module *&slot = modules[name];
  if (slot)
    bsrt_module_close(slot);
  slot = module;
  return true;
}

bsrt_module *Session::findModule(const std::string &name) {
  auto it = modules.find(name);
  return it == modules.end() ? nullptr : it->second;
}

void Session::begin() {
  records.clear();
  maps.clear();
  error.clear();
  currentSession = this;
}

Result<bool> Session::end() {
  currentSession = nullptr;
  if (!error.empty())
    return Refusal{error};
  return true;
}

Session *Session::current() { return currentSession; }

void Session::fail(std::string message) {
  if (error.empty())
    error = std::move(message);
}

} // namespace blockscale::rt

//===- CallGraph.cpp - which functions of a module call which -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names are taken as they stand, without scopes: where two things share one, a function
// counts as called that is not, which costs nothing but its decoding.
//
//===----------------------------------------------------------------------===//

#include "CallGraph.h"

#include <algorithm>
#include <functional>

namespace blockscale::emu {
namespace {

std::vector<Signature::Formal> formalsOf(const std::vector<PtxVariable> &variables) {
  std::vector<Signature::Formal> out;
  for (const PtxVariable &v : variables)
    out.push_back({v.bytes(), v.align});
  return out;
}

std::string textOf(const std::vector<Signature::Formal> &formals) {
  std::string out = "(";
  for (const Signature::Formal &f : formals)
    out += (out.size() > 1 ? ", " : "") + std::to_string(f.bytes) +
           (f.align != f.bytes ? " at " + std::to_string(f.align) : std::string());
  return out + ")";
}

void eachName(const PtxOperand &o, const std::function<void(const std::string &)> &visit) {
  if (o.kind == PtxOperand::Kind::name)
    visit(o.name);
  for (const PtxOperand &item : o.items)
    eachName(item, visit);
}

} // namespace

Signature::Signature(const std::vector<PtxVariable> &results,
                     const std::vector<PtxVariable> &parameters)
    : returns(formalsOf(results)), params(formalsOf(parameters)) {}

std::string Signature::text() const { return textOf(returns) + " and " + textOf(params); }

const PtxOperand *calleeOfCall(const PtxInstruction &call) {
  for (const PtxOperand &o : call.operands)
    if (o.kind != PtxOperand::Kind::list)
      return o.kind == PtxOperand::Kind::name ? &o : nullptr;
  return nullptr;
}

const std::string &tableOfCall(const PtxInstruction &call) {
  static const std::string kNone;
  const PtxOperand *callee = calleeOfCall(call);
  if (!callee || &call.operands.back() == callee ||
      call.operands.back().kind != PtxOperand::Kind::name)
    return kNone;
  return call.operands.back().name;
}

CallGraph::CallGraph(const PtxModule &module) {
  for (const PtxKernel &k : module.kernels) {
    nodeOf[&k] = Node(bodies.size());
    if (!k.isEntry)
      functions.emplace(k.name, Node(bodies.size()));
    bodies.push_back(&k);
  }
  edges.resize(bodies.size());
  if (functions.empty()) {
    component.resize(bodies.size());
    recursive.resize(bodies.size());
    return;
  }
  std::unordered_map<std::string, const PtxVariable *> tables;
  for (const PtxVariable &v : module.variables)
    if (!v.references.empty())
      tables[v.name] = &v;
  for (Node n = 0; n < bodies.size(); ++n)
    addCalls(n, tables);
  if (!signatures.empty())
    addCandidates(module);
  findComponents();
}

void CallGraph::addCalls(Node caller,
                         const std::unordered_map<std::string, const PtxVariable *> &tables) {
  const std::vector<PtxStatement> &body = bodies[caller]->body;
  std::unordered_multimap<std::string, const PtxStatement *> named;
  for (const PtxStatement &s : body)
    if (s.kind == PtxStatement::Kind::callTargets || s.kind == PtxStatement::Kind::callPrototype)
      named.emplace(s.name, &s);
  std::unordered_set<std::string> followed; // what has its edges already
  auto add = [&](const std::string &function) {
    if (auto it = functions.find(function); it != functions.end())
      edges[caller].push_back(it->second);
  };
  for (const PtxStatement &s : body) {
    if (s.kind != PtxStatement::Kind::instruction || s.instruction.opcode != "call")
      continue;
    const PtxOperand *callee = calleeOfCall(s.instruction);
    const std::string &table = tableOfCall(s.instruction);
    if (table.empty()) {
      if (callee && followed.insert("call " + callee->name).second)
        add(callee->name);
      continue;
    }
    if (!followed.insert(table).second)
      continue;
    if (auto it = tables.find(table); it != tables.end())
      for (const PtxReference &r : it->second->references)
        add(r.name);
    auto [first, last] = named.equal_range(table);
    for (; first != last; ++first) {
      for (const std::string &target : first->second->targets)
        add(target);
      if (first->second->kind != PtxStatement::Kind::callPrototype)
        continue;
      auto [at, isNew] = signatures.emplace(
          Signature(first->second->returns, first->second->params), Node(edges.size()));
      if (isNew)
        edges.emplace_back();
      edges[caller].push_back(at->second);
    }
  }
}

/// From each signature to the functions that agree with it and whose address is taken.
void CallGraph::addCandidates(const PtxModule &module) {
  std::vector<bool> isTaken(bodies.size());
  auto take = [&](const std::string &name) {
    if (auto it = functions.find(name); it != functions.end())
      isTaken[it->second] = true;
  };
  for (const PtxVariable &v : module.variables)
    for (const PtxReference &r : v.references)
      take(r.name);
  for (const PtxKernel &k : module.kernels)
    for (const PtxStatement &s : k.body) {
      if (s.kind != PtxStatement::Kind::instruction)
        continue;
      const PtxOperand *callee =
          s.instruction.opcode == "call" ? calleeOfCall(s.instruction) : nullptr;
      for (const PtxOperand &o : s.instruction.operands)
        if (&o != callee)
          eachName(o, take);
    }
  for (Node n = 0; n < bodies.size(); ++n) {
    if (!isTaken[n])
      continue;
    auto it = signatures.find(Signature(bodies[n]->returns, bodies[n]->params));
    if (it != signatures.end())
      edges[it->second].push_back(n);
  }
}

/// Tarjan's components, without recursion: bad input may nest calls as deeply as it likes.
void CallGraph::findComponents() {
  constexpr uint32_t kNew = ~uint32_t(0);
  std::vector<uint32_t> order(edges.size(), kNew), low(edges.size());
  component.assign(edges.size(), kNew);
  recursive.assign(edges.size(), false);
  std::vector<Node> open; // of components that are not complete
  struct Visit {
    Node node;
    size_t next;
  };
  uint32_t visited = 0, components = 0;
  for (Node root = 0; root < edges.size(); ++root) {
    if (order[root] != kNew)
      continue;
    std::vector<Visit> path{{root, 0}};
    order[root] = low[root] = visited++;
    open.push_back(root);
    while (!path.empty()) {
      Node node = path.back().node;
      if (path.back().next < edges[node].size()) {
        Node to = edges[node][path.back().next++];
        if (to == node)
          recursive[node] = true;
        if (order[to] == kNew) {
          order[to] = low[to] = visited++;
          open.push_back(to);
          path.push_back({to, 0});
        } else if (component[to] == kNew) {
          low[node] = std::min(low[node], order[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty())
        low[path.back().node] = std::min(low[path.back().node], low[node]);
      if (low[node] != order[node])
        continue;
      const bool isCycle = open.back() != node;
      for (Node member = kNew; member != node;) {
        member = open.back();
        open.pop_back();
        component[member] = components;
        recursive[member] = recursive[member] || isCycle;
      }
      ++components;
    }
  }
}

std::vector<const PtxKernel *> CallGraph::reachedFrom(const PtxKernel &source) const {
  std::vector<bool> seen(edges.size());
  std::vector<Node> found, todo{nodeOf.at(&source)};
  while (!todo.empty()) {
    Node node = todo.back();
    todo.pop_back();
    for (Node to : edges[node])
      if (!seen[to]) {
        seen[to] = true;
        todo.push_back(to);
        if (to < bodies.size())
          found.push_back(to);
      }
  }
  std::sort(found.begin(), found.end(), [&](Node a, Node b) {
    return std::pair(component[a], a) < std::pair(component[b], b);
  });
  std::vector<const PtxKernel *> out;
  for (Node n : found)
    out.push_back(bodies[n]);
  return out;
}

uint32_t CallGraph::componentOf(const PtxKernel &function) const {
  return component[nodeOf.at(&function)];
}

bool CallGraph::isRecursive(const PtxKernel &function) const {
  return recursive[nodeOf.at(&function)];
}

std::vector<const PtxKernel *> CallGraph::candidates(const Signature &signature) const {
  std::vector<const PtxKernel *> out;
  if (auto it = signatures.find(signature); it != signatures.end())
    for (Node n : edges[it->second])
      out.push_back(bodies[n]);
  return out;
}

} // namespace blockscale::emu

internal import Foundation

/// The parts of a compound predicate as objects.
///
/// A chain of compounds is freed by a loop, where each compound would free the next one by recursion.
final class PredicateObjects: @unchecked Sendable {
  // Guard: the predicates are immutable, and the list changes only while parts with a single owner are freed.
  private(set) var list: [NSPredicate]
  /// The levels of conditions from a compound of these parts down.
  let levels: Int

  init(_ list: [NSPredicate]) {
    self.list = list
    levels = 1 + (list.lazy.map(\.conditionLevels).max() ?? 0)
  }

  deinit {
    if levels <= PredicateTree.recursionLimit { return }
    var pending = list
    list = []
    while !pending.isEmpty {
      guard var compound = Self.last(of: &pending), isKnownUniquelyReferenced(&compound) else { continue }
      if let compound = compound as? TreeCompoundPredicate {
        for parts in compound.ownParts {
          pending += parts.list
          parts.list = []
        }
      } else {
        pending += compound.subpredicates
        compound.subpredicates = []
      }
    }
  }

  // A function of its own, so that no local variable in deinit owns the compound, too.
  private static func last(of pending: inout [NSPredicate]) -> NSCompoundPredicate? {
    let predicate = pending.removeLast()
    guard let compound = predicate as? NSCompoundPredicate else { return nil }
    return compound is TreeCompoundPredicate || type(of: compound) == NSCompoundPredicate.self
      ? compound : nil
  }
}

extension NSPredicate {
  /// The levels of conditions, not counted far beyond the limit of recursion.
  fileprivate var conditionLevels: Int {
    if let predicate = self as? TreePredicate {
      return (try? predicate.result.get())?.levels ?? 1
    }
    if let compound = self as? TreeCompoundPredicate { return compound.levels }
    guard let compound = self as? NSCompoundPredicate else { return 1 }
    // Foundation's compounds do not know their levels. They may share parts, so the work is limited, too.
    var levels = 1
    var budget = 1_000
    var pending: [(NSPredicate, level: Int)] = compound.subpredicates.map { ($0, 2) }
    while let (predicate, level) = pending.popLast(), level <= PredicateTree.recursionLimit {
      levels = max(levels, level)
      budget -= 1
      if budget == 0 { return PredicateTree.recursionLimit + 1 }
      if let compound = predicate as? TreeCompoundPredicate {
        levels = max(levels, level + compound.levels - 1)
      } else if let compound = predicate as? NSCompoundPredicate {
        pending += compound.subpredicates.map { ($0, level + 1) }
      }
    }
    return pending.isEmpty ? levels : PredicateTree.recursionLimit + 1
  }
}

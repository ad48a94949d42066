internal import CDEPredicates
internal import Foundation

/// What a request chooses from the objects of its entity, by functions of the program: a block of its predicate, or a comparator of its
/// order.
struct MemoryChoice {
  var predicate: NSPredicate?
  var order: [NSSortDescriptor]
  var offset: Int
  /// Nil for all.
  var limit: Int?

  /// The chosen objects, in order. Objects that the order does not distinguish stay as they are.
  ///
  /// - Throws: the errors of the predicate and of the order.
  func chosen<Object>(from objects: [Object]) throws -> [Object] {
    let found = try predicate.map { predicate in try objects.filter { try predicate.matches($0) } } ?? objects
    let tail = try sorted(found).dropFirst(offset)
    return Array(limit.map { tail.prefix($0) } ?? tail)
  }

  private func sorted<Object>(_ objects: [Object]) throws -> [Object] {
    let terms = try order.map { try SortTerm($0) }
    if terms.isEmpty { return objects }
    return try objects.enumerated().sorted { left, right in
      for term in terms {
        switch try term.compare(left.element, right.element) {
        case .orderedAscending: return true
        case .orderedDescending: return false
        case .orderedSame: continue
        }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}

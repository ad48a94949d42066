public import Foundation

extension NSPredicate {
  /// The printed form of any predicate, including compounds made by Foundation.
  ///
  /// Foundation's own `predicateFormat` is deprecated on Linux and does not print compounds. A block is
  /// printed as `BLOCKPREDICATE`.
  public var canonicalFormat: String {
    if let tree = try? predicateTree() { return tree.predicateFormat }
    return ConditionWalk.print(self, \.form) { leaf in
      guard let tree = try? leaf.predicateTree() else {
        let isBlock = leaf.ownResult == nil && !(leaf is NSCompoundPredicate)
        return (isBlock ? "BLOCKPREDICATE" : ConditionWalk.format(false), false)
      }
      switch tree {
      case .and(let parts), .or(let parts): return (tree.predicateFormat, parts.count > 1)
      default: return (tree.predicateFormat, false)
      }
    }
  }

  /// The predicate itself, or a compound that prints canonically in place of one that Foundation made, which prints
  /// `FALSEPREDICATE` whatever it contains.
  @_spi(CDE) public var printable: NSPredicate {
    guard let compound = self as? NSCompoundPredicate, type(of: compound) == NSCompoundPredicate.self else {
      return self
    }
    return TreeCompoundPredicate(
      type: compound.compoundPredicateType, subpredicates: compound.subpredicates)
  }
}

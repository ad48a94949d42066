public import Foundation

extension NSPredicate {
  /// The printed form of any predicate, including compounds made by Foundation.
  ///
  /// Foundation's own `predicateFormat` is deprecated on Linux and does not print compounds. A block is
  /// printed as `BLOCKPREDICATE`.
  public var canonicalFormat: String {
    if let result = ownResult { return (try? result.get())?.predicateFormat ?? "FALSEPREDICATE" }
    if let compound = self as? NSCompoundPredicate {
      if !compound.isTooDeep { return compound.compoundFormat }
      return (try? predicateTree())?.predicateFormat ?? "FALSEPREDICATE"
    }
    return (try? predicateTree())?.predicateFormat ?? "BLOCKPREDICATE"
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

  /// Whether the printed form needs parentheses inside another compound.
  var isCompound: Bool {
    if ownResult == nil, let compound = self as? NSCompoundPredicate {
      if compound.compoundPredicateType == .not { return false }
      return compound.subpredicates.count == 1
        ? compound.subpredicates[0].isCompound : !compound.subpredicates.isEmpty
    }
    switch try? predicateTree() {
    case .and(let parts)?, .or(let parts)?: return parts.count > 1
    default: return false
    }
  }
}

extension NSCompoundPredicate {
  fileprivate var compoundFormat: String {
    let parts = subpredicates.map { (format: $0.canonicalFormat, isCompound: $0.isCompound) }
    let operands = parts.map { $0.isCompound ? "(\($0.format))" : $0.format }
    switch compoundPredicateType {
    case .not: return "NOT " + operands.prefix(1).joined()
    case .and, .or:
      let conjunction = compoundPredicateType == .and
      if parts.isEmpty { return PredicateTree.constant(conjunction).predicateFormat }
      if parts.count == 1 { return parts[0].format }
      return operands.joined(separator: conjunction ? " AND " : " OR ")
    }
  }
}

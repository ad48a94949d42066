public import Foundation

extension NSPredicate {
  /// The printed form of any predicate, including compounds made by Foundation.
  ///
  /// Foundation's own `predicateFormat` is deprecated on Linux and does not print compounds. A block is
  /// printed as `BLOCKPREDICATE`.
  public var canonicalFormat: String {
    if let tree = try? predicateTree() { return tree.predicateFormat }
    return ConditionWalk.fold(self, \.form) { leaf in
      Printed(leaf)
    } negation: { part in
      Printed(text: "NOT \(part.operand)", isCompound: false)
    } compound: { parts, isAnd in
      switch parts.count {
      case 0: Printed(text: PredicateTree.constant(isAnd).predicateFormat, isCompound: false)
      case 1: parts[0]
      default:
        Printed(text: parts.map(\.operand).joined(separator: isAnd ? " AND " : " OR "), isCompound: true)
      }
    }.text
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

/// The printed form of a predicate, and whether it needs parentheses inside another compound.
private struct Printed {
  let text: String
  let isCompound: Bool

  init(text: String, isCompound: Bool) { (self.text, self.isCompound) = (text, isCompound) }

  /// A predicate without parts, which may have an error or be a block.
  init(_ leaf: NSPredicate) {
    guard let tree = try? leaf.predicateTree() else {
      let isBlock = leaf.ownResult == nil && !(leaf is NSCompoundPredicate)
      self.init(text: isBlock ? "BLOCKPREDICATE" : "FALSEPREDICATE", isCompound: false)
      return
    }
    switch tree {
    case .and(let parts), .or(let parts): self.init(text: tree.predicateFormat, isCompound: parts.count > 1)
    default: self.init(text: tree.predicateFormat, isCompound: false)
    }
  }

  var operand: String { isCompound ? "(\(text))" : text }
}

@_spi(CDE) internal import CDEExecutors
internal import Foundation

extension TreePredicate {
  var archivedClass: AnyClass {
    if self is TreeComparisonPredicate { return TreeComparisonPredicate.self }
    return result == .success(.constant(true)) ? ArchivedTruePredicate.self : ArchivedFalsePredicate.self
  }

  func write(to coder: NSCoder) {
    if case .failure(let error) = result {
      failPrecondition("A predicate with an error can't be archived: \(error.message).")
    } else if let comparison = self as? TreeComparisonPredicate {
      coder.encode(comparison.leftExpression, forKey: "NSLeftExpression")
      coder.encode(comparison.rightExpression, forKey: "NSRightExpression")
      coder.encode(
        PredicateOperation(
          (comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options)),
        forKey: "NSPredicateOperator")
    }
  }

  static func decoded() -> Result<PredicateTree, PredicateTreeError>? {
    if self == ArchivedTruePredicate.self { return .success(.constant(true)) }
    return self == ArchivedFalsePredicate.self ? .success(.constant(false)) : nil
  }
}

extension TreeComparisonPredicate {
  static func sides(_ coder: NSCoder) -> (TreeExpression, TreeExpression)? {
    guard let left = coder.expression(forKey: "NSLeftExpression"),
      let right = coder.expression(forKey: "NSRightExpression")
    else { return nil }
    return (left, right)
  }

  static func operation(_ coder: NSCoder) -> PredicateOperation.Form? {
    let operation = coder.decodeObject(of: PredicateArchives.classes, forKey: "NSPredicateOperator")
    return (operation as? PredicateOperation)?.form
  }
}

extension TreeCompoundPredicate {
  func write(to coder: NSCoder) {
    coder.encode(Int(compoundPredicateType.rawValue), forKey: "NSCompoundPredicateType")
    if levels > ArchivingThread.callersLimit, !ArchivingThread.isCurrent {
      do {
        coder.encode(NSData(data: try PredicateArchives.data(of: self)), forKey: Self.archiveKey)
      } catch {
        failPrecondition("A predicate can't be archived: \(error).")
      }
      return
    }
    coder.encode(ArchivedList(subpredicates.map { $0.archivable() }), forKey: "NSSubpredicates")
  }

  /// The key of a whole archive in place of the parts.
  private static let archiveKey = "CDEArchive"

  static func decoded(_ coder: NSCoder) -> (LogicalType, [NSPredicate])? {
    if coder.containsValue(forKey: archiveKey) {
      let data = coder.decodeObject(of: NSData.self, forKey: archiveKey)
      let compound = data.flatMap { try? PredicateArchives.predicate(from: Data(referencing: $0)) }
      return (compound as? NSCompoundPredicate).map { ($0.compoundPredicateType, $0.subpredicates) }
    }
    let number = coder.decodeInteger(forKey: "NSCompoundPredicateType")
    let list = coder.decodeObject(of: PredicateArchives.classes, forKey: "NSSubpredicates")
    guard let raw = UInt(exactly: number), let type = LogicalType(rawValue: raw),
      let parts = list as? [NSPredicate], type != .not || parts.count == 1
    else { return nil }
    return (type, parts)
  }
}

extension NSPredicate {
  /// The predicate as an object of a class that archives.
  fileprivate func archivable() -> NSPredicate {
    if self is TreePredicate || self is TreeCompoundPredicate { return self }
    return TreePredicate.object(
      Result { () throws(PredicateTreeError) in try predicateTree() })
  }
}

extension NSCoder {
  func expression(forKey key: String) -> TreeExpression? {
    decodeObject(of: PredicateArchives.classes, forKey: key) as? TreeExpression
  }

  func predicate(forKey key: String) -> NSPredicate? {
    decodeObject(of: PredicateArchives.classes, forKey: key) as? NSPredicate
  }
}

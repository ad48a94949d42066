public import Foundation

extension SortTerm {
  /// Sorts by a key path with dots; nil or empty sorts by the objects themselves.
  public init(key: String?, ascending: Bool) {
    let path = key.map { $0.split(separator: ".").map(String.init) } ?? []
    self.init(keyPath: path == ["self"] ? [] : path, ascending: ascending)
  }

  /// What a Foundation descriptor sorts by.
  ///
  /// - Throws: ``PredicateTreeError`` with code `unnamedKeyPath` for a Swift key path whose root does not
  ///   name it.
  public init(_ descriptor: NSSortDescriptor) throws(PredicateTreeError) {
    if let known = descriptor as? KeySortDescriptor {
      self = known.term
      return
    }
    self.init(keyPath: try PredicateKeyPath.names(of: descriptor.keyPath), ascending: descriptor.ascending)
  }

  /// What a typed descriptor sorts by; `Compared` names its key paths.
  ///
  /// - Throws: ``PredicateTreeError`` with code `unnamedKeyPath`.
  public init<Compared>(_ descriptor: SortDescriptor<Compared>) throws(PredicateTreeError) {
    guard let keyPath = descriptor.keyPath else {
      throw PredicateTreeError(
        .unnamedKeyPath, construct: "SortDescriptor", "the sort descriptor has no key path; make it with one")
    }
    self.init(
      keyPath: try PredicateKeyPath.names(of: keyPath), ascending: descriptor.order == .forward,
      collation: Self.collation(descriptor.stringComparator))
  }

  private static func collation(_ comparator: String.StandardComparator?) -> SortTextCollation {
    // Linux's Foundation has .lexical alone, Apple's also .localized and .localizedStandard.
    guard var comparator else { return .binary }
    comparator.order = .forward
    return comparator == .lexical ? .binary : .localizedStandard
  }

  /// The order of two objects under this term: the direction is applied.
  ///
  /// Nil comes first when ascending. Values of different kinds, and objects, keep their order.
  ///
  /// - Throws: ``PredicateTreeError`` for unknown keys, and whatever the objects throw.
  public func compare(_ left: Any?, _ right: Any?) throws -> ComparisonResult {
    let a = try PredicateValue(left).value(at: keyPath)
    let b = try PredicateValue(right).value(at: keyPath)
    let order = order(a, b)
    return ascending ? order : ComparisonResult(rawValue: -order.rawValue) ?? .orderedSame
  }

  private func order(_ left: PredicateValue, _ right: PredicateValue) -> ComparisonResult {
    switch (left.isNull, right.isNull) {
    case (true, true): return .orderedSame
    case (true, false): return .orderedAscending
    case (false, true): return .orderedDescending
    case (false, false): break
    }
    if let comparator { return comparator(left.foundationObject, right.foundationObject) }
    guard case .constant(let a) = left, case .constant(let b) = right else { return .orderedSame }
    if case .string(let a) = a, case .string(let b) = b {
      switch collation {
      case .localized: return a.localizedCompare(b)
      case .localizedStandard: return a.localizedStandardCompare(b)
      case .binary, .caseInsensitive: break
      }
    }
    let sign = PredicateOrder.compare(a, b, collation == .caseInsensitive ? .caseInsensitive : [])
    return ComparisonResult(rawValue: sign?.signum() ?? 0) ?? .orderedSame
  }
}

extension PredicateValue {
  /// The value as a comparator of Foundation expects it: numbers as `NSNumber`, the rest as Swift values.
  var foundationObject: Any {
    switch self {
    case .object(let object): (object as? ReflectedObject)?.subject ?? object
    case .collection(let members): members.map(\.foundationObject)
    case .constant(let constant): constant.foundationObject
    }
  }
}

extension PredicateConstant {
  var foundationObject: Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .object(let value): value.reference
    case .list(let values): values.map(\.foundationObject)
    }
  }
}

public import Foundation

extension SortTerm {
  /// Sorts by a key path with dots; nil or empty sorts by the objects themselves.
  public init(key: String?, ascending: Bool) {
    let path = key.map { $0.split(separator: ".").map(String.init) } ?? []
    self.init(keyPath: path == ["self"] ? [] : path, ascending: ascending)
  }

  /// The sort key of a Foundation descriptor.
  ///
  /// - Throws: ``PredicateTreeError`` with code `unnamedKeyPath` for a Swift key path that its root does not
  ///   name.
  public init(_ descriptor: NSSortDescriptor) throws(PredicateTreeError) {
    if let known = descriptor as? KeySortDescriptor {
      self = known.term
      return
    }
    self.init(keyPath: try PredicateKeyPath.names(of: descriptor.keyPath), ascending: descriptor.ascending)
    if let comparator = Self.ownComparator(of: descriptor) { self.comparator = comparator }
  }

  /// The comparator given to Foundation's `NSSortDescriptor(keyPath:ascending:comparator:)`, or nil.
  ///
  /// Each descriptor has a comparator, and no property shows whether the caller provided it. Therefore it is
  /// called with values whose natural order is known. If its result is different, the caller provided it.
  private static func ownComparator(of descriptor: NSSortDescriptor) -> Comparator? {
    let comparator = ComparatorBox(compare: descriptor.comparator).call
    let value = type(of: descriptor.keyPath).valueType
    // Without a comparator Foundation accepts only comparable values.
    guard value is any Comparable.Type else { return comparator }
    func isNatural<Value: Comparable>(_ values: [Value]) -> Bool {
      values.allSatisfy { left in
        values.allSatisfy { right in
          let natural: ComparisonResult =
            left < right ? .orderedAscending : right < left ? .orderedDescending : .orderedSame
          return comparator(left, right) == natural
        }
      }
    }
    func areNatural<Value: BinaryInteger>(_: Value.Type) -> Bool {
      isNatural([0, 1, 2, 9, 10, 100] as [Value])
    }
    let isUsual =
      switch value {
      case is String.Type: isNatural(["", "a", "B", "b", "a10", "a9", "é", "f"])
      case let integers as any BinaryInteger.Type: areNatural(integers)
      case is Double.Type: isNatural([-2.0, -1, 0, 0.5, 3])
      case is Float.Type: isNatural([-2, -1, 0, 0.5, 3] as [Float])
      case is Decimal.Type: isNatural([-2, -1, 0, 3] as [Decimal])
      case is Date.Type: isNatural([-2.0, -1, 0, 3].map(Date.init(timeIntervalSinceReferenceDate:)))
      default: true
      }
    return isUsual ? nil : comparator
  }

  /// The sort key of a typed descriptor. `Compared` names its key paths.
  ///
  /// - Throws: ``PredicateTreeError`` with code `unnamedKeyPath`.
  public init<Compared>(_ descriptor: SortDescriptor<Compared>) throws(PredicateTreeError) {
    guard let keyPath = descriptor.keyPath else {
      throw PredicateTreeError(
        .unnamedKeyPath, construct: "SortDescriptor", "the sort descriptor has no key path; make it with one")
    }
    self.init(descriptor, along: try PredicateKeyPath.names(of: keyPath))
  }

  /// The sort key of a typed descriptor whose key path was named by a layer of models.
  @_spi(CDE) public init<Compared>(_ descriptor: SortDescriptor<Compared>, along keyPath: [String]) {
    self.init(
      keyPath: keyPath, ascending: descriptor.order == .forward,
      collation: Self.collation(descriptor.stringComparator))
  }

  private static func collation(_ comparator: String.StandardComparator?) -> SortTextCollation {
    // Foundation on Linux has only .lexical. Apple's Foundation also has .localized and .localizedStandard.
    guard var comparator else { return .binary }
    comparator.order = .forward
    return comparator == .lexical ? .binary : .localizedStandard
  }

  /// The order of two objects under this term, with its direction.
  ///
  /// Nil comes first when ascending. Values of different kinds, and objects, keep their order.
  ///
  /// - Throws: ``PredicateTreeError`` for unknown keys, and the errors of the objects.
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
    if let comparator { return comparator(left.plainValue ?? NSNull(), right.plainValue ?? NSNull()) }
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

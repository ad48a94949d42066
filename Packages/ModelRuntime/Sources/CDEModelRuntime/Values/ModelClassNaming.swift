@_spi(CDE) internal import CDEPredicates

/// The classes of a model, for the casts of a `#Predicate`, and the raw values of enumerations.
struct ModelClassNaming: PredicateModelNaming {
  let model: ModelBinding

  func memberKey(for keyPath: AnyKeyPath) -> String? {
    RawValuePath.leads(keyPath) ? "" : nil
  }

  func entityNames(of type: any Any.Type) -> [String]? {
    guard let type = type as? NSManagedObject.Type else { return nil }
    // A class that no code has used before is bound to its entity here.
    _ = model.binding(for: type)
    let names = model.entities.filter { Self.is($0.objectClass, below: type) }.map(\.name)
    return names.isEmpty ? nil : names
  }

  func caseName(of value: Any) -> String? { nil }

  private static func `is`(_ type: AnyClass, below base: AnyClass) -> Bool {
    sequence(first: type, next: { _getSuperclass($0) }).contains { $0 == base }
  }
}

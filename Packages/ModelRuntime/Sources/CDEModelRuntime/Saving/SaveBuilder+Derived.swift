@_spi(CDE) internal import CDEOperators
internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

// Derived attributes. Those that depend on the object alone are computed here, the others by the store.
extension SaveBuilder {
  /// The slots of a row to be written, without derived attributes.
  func withoutDerived(_ slots: PropertySet, of binding: EntityBinding) -> PropertySet {
    var slots = slots
    if !binding.storedDerivations.isEmpty { slots = slots.subtracting(binding.storedDerivations) }
    for info in binding.savedDerivations { slots.remove(info.slot) }
    return slots
  }

  /// The slots to be written because they are derived from other slots.
  func derivedSlots(following given: PropertySet, of binding: EntityBinding) -> PropertySet {
    var slots = PropertySet()
    for info in binding.savedDerivations {
      let source = info.derivation?.sourceAttribute.flatMap { binding.layout.slot(named: $0) }
      if source.map(given.contains) ?? true { slots.insert(info.slot) }
    }
    return slots
  }

  func value(of derivation: StoreDerivation, for object: NSManagedObject) -> _PropertyValue {
    guard let source = derivation.sourceAttribute.flatMap({ object._binding.property($0) }) else {
      return .real(now.timeIntervalSinceReferenceDate)
    }
    if let overlay = object._overlay, !overlay.values[source.slot].isUnset {
      return derivation.value(of: overlay.values[source.slot])
    }
    return derivation.value(of: object.storedValue(source))
  }
}

extension StoreDerivation {
  /// The value derived from the value of ``sourceAttribute``.
  func value(of source: _PropertyValue) -> _PropertyValue {
    if case .attribute = self { return source.isUnset ? .null : source }
    guard case .text(let text) = source else { return .null }
    switch self {
    case .lowercase: return .text(text.lowercased())
    case .uppercase: return .text(text.uppercased())
    default: return .text(TextComparison.canonical(text))
    }
  }

  /// The attribute of the same object that the value is derived from.
  var sourceAttribute: String? {
    switch self {
    case .attribute(let name), .canonical(let name), .lowercase(let name), .uppercase(let name): name
    case .now, .copy, .count, .sum, .foreign: nil
    }
  }
}

@_spi(CDE) internal import CDEExecutors
@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

// Values that are not there, or that have no stored form.
extension _ModelObject {
  /// Keeps the former value of a property. The next save reports the error.
  final func refuse(_ name: String, _ error: any Error) {
    refuseValue(
      forKey: name,
      because:
        "\(entity.name ?? "").\(name) was left as it was, because its new value can't be stored: \(error)",
      error)
  }

  /// What is read of a property whose stored value is none of its type: the default, or the simplest value of the type.
  ///
  /// The object can't be saved afterwards: code that appends to what it has read would replace the stored value.
  final func undecodable<Value>(
    _ name: String, _ shape: ValueShape?, _ stored: Any?, _ type: Value.Type, _ error: (any Error)?
  ) -> Value {
    if let optional = type as? any OptionalValue.Type, let none = optional.missing as? Value {
      if stored != nil { report(name, type, error, isStored: true) }
      return none
    }
    if stored != nil || isInserted == false { report(name, type, error, isStored: stored != nil) }
    let metadata = info.metadata.first { $0.name == name }
    if let value = metadata?.defaultValue as? Value { return value }
    if let decodable = type as? any Decodable.Type,
      let sample = try? ShapeProbe.sample(of: decodable) as? Value
    {
      return sample
    }
    failPrecondition(
      "\(entity.name ?? "").\(name) has no stored value, and none can be made of \(type). Give the property a default value, or "
        + "declare it optional.")
  }

  private func report(_ name: String, _ type: Any.Type, _ error: (any Error)?, isStored: Bool) {
    let reason = error.map { ": \($0)" } ?? "."
    let message =
      "\(entity.name ?? "").\(name) of \(objectID.uriRepresentation().absoluteString) holds no value of \(type)\(reason)"
    Diagnostics.report(message)
    if isStored, managedObjectContext != nil {
      noteUnread(name, error ?? SwiftDataError(.valueCoding, message))
    }
  }

  /// Gives an object that stands for a missing one a value for each attribute that must have one.
  final func fillWithZeros() {
    for (name, attribute) in entity.attributesByName
    where !attribute.isOptional && attribute.defaultValue == nil {
      guard let zero = attribute.attributeType.storeType.sample else { continue }
      setPrimitiveValue(zero, forKey: name)
    }
  }
}

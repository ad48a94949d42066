@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// The last values of a deleted model, of its attributes with `.preserveValueOnDeletion`.
///
/// ```swift
/// if let code = delete.tombstone[\.code] { try await server.remove(code) }
/// ```
///
/// As in SwiftData.
public struct HistoryTombstone<Model: PersistentModel>: @unchecked Sendable {
  // Guard: immutable, and so are the stored forms of values.
  private let values: [String: Any]

  init(_ stored: [AnyHashable: Any], _ entity: NSEntityDescription) {
    var values: [String: Any] = [:]
    for (name, value) in stored {
      guard let name = name as? String else { continue }
      values[name] = entity.attributesByName[name].map { $0.reading(value) } ?? value
    }
    self.values = values
  }

  /// The last value of an attribute.
  ///
  /// - Returns: nil if the attribute had no value, or is not preserved, or was not when the model was deleted. Of an optional
  ///   attribute the result is an optional in an optional.
  public subscript<Value>(_ keyPath: KeyPath<Model, Value>) -> Value? {
    let info = _ModelInfo.of(Model.self)
    guard let ordinal = info.ordinal(of: keyPath) else { return nil }
    let (name, shape) = info.attribute(ordinal)
    guard let stored = values[name] else { return nil }
    guard let shape else { return stored as? Value }
    do { return try ValueCoding.decode(stored, as: Value.self, shape, name: name) } catch {
      ModelReport.send("The last value of \(Model.self).\(name) can't be read from the history: \(error)")
      return nil
    }
  }
}

extension NSAttributeDescription {
  /// A preserved value as objects have it: what a transformer stored is read by it.
  fileprivate func reading(_ value: Any) -> Any {
    guard attributeType == .transformableAttributeType, let data = value as? Data else { return value }
    do {
      return try TransformableCoding.decode(
        data, transformer: valueTransformerName, entity: entity.name ?? "", property: name) ?? value
    } catch {
      ModelReport.send("A last value can't be read from the history: \(error)")
      return value
    }
  }
}

public import Foundation

/// Encodes and decodes the values of transformable attributes.
@_spi(CDE) public enum TransformableCoding {
  /// The bytes to store for a value. They are made by the transformer of that name (secure unarchiving for
  /// `nil`).
  ///
  /// - Throws: ``ModelError`` with `.unknownTransformer` or `.transformFailed`.
  public static func encode(
    _ value: Any?, transformer name: String?, entity: String, property: String
  ) throws -> Data? {
    guard let value else { return nil }
    let transformer = try find(name, entity: entity, property: property)
    // The direction in the name of an unarchiving transformer is decoding. It encodes data in reverse.
    let result =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    guard let data = result as? Data else {
      if let name = refusedClass(transformer, in: value) {
        throw ModelError(
          .transformFailed,
          "The transformer of \(entity).\(property), \(Swift.type(of: transformer)), does not allow the class \(name), "
            + "which the value holds. Override its allowedTopLevelClasses, or store something else.",
          entity: entity, property: property)
      }
      throw ModelError(
        .transformFailed,
        "The transformer of \(entity).\(property), \(Swift.type(of: transformer)), made no data of a "
          + "\(Swift.type(of: value)). It has to return Data for every value that the attribute holds.",
        entity: entity, property: property)
    }
    return data
  }

  /// The value decoded from stored bytes.
  ///
  /// - Throws: ``ModelError`` with `.unknownTransformer` or `.transformFailed`.
  public static func decode(
    _ data: Data?, transformer name: String?, entity: String, property: String
  ) throws -> Any? {
    guard let data else { return nil }
    let transformer = try find(name, entity: entity, property: property)
    let result =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    guard let result else {
      if let name = refusedClass(transformer, inArchive: data) {
        throw ModelError(
          .transformFailed,
          "The transformer of \(entity).\(property), \(Swift.type(of: transformer)), does not allow the class \(name), "
            + "which the stored bytes hold. Override its allowedTopLevelClasses, or set another value.",
          entity: entity, property: property)
      }
      throw ModelError(
        .transformFailed,
        "The transformer of \(entity).\(property), \(Swift.type(of: transformer)), made nothing of "
          + "\(data.count) stored bytes. They were written by another transformer, or are damaged.",
        entity: entity, property: property)
    }
    return result
  }

  private static func refusedClass(_ transformer: ValueTransformer, in value: Any) -> String? {
    #if canImport(ObjectiveC)
      return nil
    #else
      return (transformer as? NSSecureUnarchiveFromDataTransformer)?.refusedClass(in: value)
    #endif
  }

  private static func refusedClass(_ transformer: ValueTransformer, inArchive data: Data) -> String? {
    #if canImport(ObjectiveC)
      return nil
    #else
      return (transformer as? NSSecureUnarchiveFromDataTransformer)?.refusedClass(inArchive: data)
    #endif
  }

  private static func find(_ name: String?, entity: String, property: String) throws -> ValueTransformer {
    let name = name.map(NSValueTransformerName.init(rawValue:)) ?? .secureUnarchiveFromDataTransformerName
    guard let transformer = ValueTransformer(forName: name) else {
      throw ModelError(
        .unknownTransformer,
        "No value transformer is registered under \(name.rawValue), which \(entity).\(property) names. "
          + "Call ValueTransformer.setValueTransformer(_:forName:) first.",
        entity: entity, property: property)
    }
    return transformer
  }
}

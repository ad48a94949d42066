@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
public import Foundation

/// The stored bytes of a transformable attribute whose transformer can't decode them.
///
/// A model that is read from a store's own copy may name transformers of another program, and the archives in the store
/// may have classes that this program does not have. An object of the class `NSManagedObject` itself then answers
/// `value(forKey:)` with this value. Setting it, on that object or on another one, stores the same bytes. A class of the
/// program is expected to come with its transformers: its objects report the attribute as unreadable instead.
///
/// ```swift
/// if let color = object.value(forKey: "color") as? UndecodedValue {
///   print(color.data.count, color.reason)
/// }
/// ```
///
/// Apple's Core Data has no such type. It logs the missing transformer and tries its default one.
public struct UndecodedValue: Hashable, Sendable {
  /// The bytes in the store.
  public let data: Data
  /// The name of the attribute's transformer; nil for the default one.
  public let transformerName: String?
  /// Why the bytes could not be decoded.
  public let reason: String

  /// The bytes that an error says can't be decoded; nil for another error, such as a file that can't be read.
  init?(_ data: Data?, of info: PropertyInfo, because error: any Error) {
    guard let data, let error = error as? ModelError,
      error.code == .unknownTransformer || error.code == .transformFailed
    else { return nil }
    self.data = data
    transformerName = info.transformerName
    reason = error.message
  }
}

extension _ObjectBox {
  /// The bytes to store for a transformable attribute.
  ///
  /// - Throws: ``ModelError`` if the transformer is not registered, or makes no data of the value.
  func encode(_ info: PropertyInfo, entity: String) throws -> Data? {
    if let undecoded = value as? UndecodedValue { return undecoded.data }
    return try TransformableCoding.encode(
      value, transformer: info.transformerName, entity: entity, property: info.name)
  }
}

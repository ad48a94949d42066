#if canImport(ObjectiveC)
  public import Foundation
#endif

/// A value transformer with the name under which it is registered, so that attributes can refer to its type.
///
/// The application must register an instance under that name before the first use of an attribute.
nonisolated public protocol CDRegisteredValueTransformer: ValueTransformer {
  /// The name under which the application registers an instance. The model contains it as the transformer's
  /// name.
  static var transformerName: NSValueTransformerName { get }
}

#if canImport(ObjectiveC)
  extension NSSecureUnarchiveFromDataTransformer: CDRegisteredValueTransformer {
    /// The name under which Foundation registers this transformer.
    nonisolated public class var transformerName: NSValueTransformerName {
      .secureUnarchiveFromDataTransformerName
    }
  }
#else
  extension NSSecureUnarchiveFromDataTransformer: CDRegisteredValueTransformer {}
#endif

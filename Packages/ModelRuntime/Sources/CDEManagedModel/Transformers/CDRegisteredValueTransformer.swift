#if canImport(ObjectiveC)
  public import Foundation
#endif

/// A value transformer that knows the name it is registered under, so that attributes can refer to its type.
///
/// Registering an instance under that name, before the first use of an attribute, is the app's part.
nonisolated public protocol CDRegisteredValueTransformer: ValueTransformer {
  /// The name under which the app registers an instance, and which goes into the model as the transformer's
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

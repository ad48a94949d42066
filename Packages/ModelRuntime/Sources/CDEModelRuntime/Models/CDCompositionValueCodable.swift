public import CDEPredicates
internal import CDEStore
internal import Foundation

/// A struct that can be encoded as named values and decoded from them. `@Composition` conforms.
public nonisolated protocol CDCompositionValueCodable: CDCompositionPathProviding, PredicateKeyPathNaming {
  /// The value decoded from its fields by persistent name; nil if a field that is not optional is missing.
  static func __cdDecodeComposition(from values: [String: Any]) -> Self?
  /// The fields by persistent name, without nil ones.
  var __cdEncodeComposition: [String: Any] { get }
  /// The persistent name of a field.
  ///
  /// - Parameters:
  ///   - keyPath: From the composition to a field; from a model's class if there is a base.
  ///   - base: From a model's class to its composition.
  static func __cdPredicateKey(for keyPath: AnyKeyPath, after base: AnyKeyPath?) -> String?
}

nonisolated extension CDCompositionValueCodable {
  /// No names, for types that conform by hand and are queried by format strings only.
  public static func __cdPredicateKey(for keyPath: AnyKeyPath, after base: AnyKeyPath?) -> String? { nil }

  /// The persistent name of the field that a key path from the composition leads to; nil for other key paths.
  public static func predicateKey(for keyPath: AnyKeyPath) -> String? {
    __cdPredicateKey(for: keyPath, after: nil)
  }
}

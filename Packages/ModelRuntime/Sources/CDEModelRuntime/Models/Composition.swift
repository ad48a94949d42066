public import CDEPredicates
internal import CDEStore
internal import Foundation

/// A struct that can be taken apart into named values and made of them again. `@Composition` conforms.
public nonisolated protocol CDCompositionValueCodable: CDCompositionPathProviding, PredicateKeyPathNaming {
  /// The value made of its fields by persistent name; nil when one that is not optional is missing.
  static func __cdDecodeComposition(from values: [String: Any]) -> Self?
  /// The fields by persistent name, nil ones left out.
  var __cdEncodeComposition: [String: Any] { get }
  /// The persistent name of a field.
  ///
  /// - Parameters:
  ///   - keyPath: From the composition to a field; from a model's class if there is a base.
  ///   - base: From a model's class to its composition.
  static func __cdPredicateKey(for keyPath: AnyKeyPath, after base: AnyKeyPath?) -> String?
}

nonisolated extension CDCompositionValueCodable {
  /// No names: for types that conform by hand and are queried by format strings only.
  public static func __cdPredicateKey(for keyPath: AnyKeyPath, after base: AnyKeyPath?) -> String? { nil }

  /// The persistent name of the field that a key path from the composition leads to; nil for one that leads
  /// elsewhere.
  public static func predicateKey(for keyPath: AnyKeyPath) -> String? {
    __cdPredicateKey(for: keyPath, after: nil)
  }
}

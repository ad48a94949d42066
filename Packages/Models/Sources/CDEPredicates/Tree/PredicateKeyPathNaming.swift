/// A type that names the keys of its Swift key paths, for the translation of `#Predicate` and
/// `SortDescriptor`.
///
/// The macros of model classes and compositions add the conformance.
nonisolated public protocol PredicateKeyPathNaming {
  /// The key of one property, or a path of keys joined by dots; nil if the key path does not lead to a stored
  /// property.
  ///
  /// - Parameter keyPath: A key path whose root is `Self`.
  static func predicateKey(for keyPath: AnyKeyPath) -> String?
}

enum PredicateKeyPath {
  /// The keys of a key path.
  ///
  /// - Throws: ``PredicateTreeError`` with code `unnamedKeyPath`.
  static func names(of keyPath: AnyKeyPath) throws(PredicateTreeError) -> [String] {
    let root = type(of: keyPath).rootType
    guard let naming = root as? any PredicateKeyPathNaming.Type else {
      throw PredicateTreeError(
        .unnamedKeyPath, construct: "\(root)",
        "\(root) names no key paths (PredicateKeyPathNaming); query stored properties of models, fields of "
          + "compositions and the rawValue of an enumeration")
    }
    guard let key = naming.predicateKey(for: keyPath), !key.isEmpty else {
      throw PredicateTreeError(
        .unnamedKeyPath, construct: "\(root)",
        "a key path of \(root) to \(type(of: keyPath).valueType) is none of its stored properties")
    }
    return key.split(separator: ".").map(String.init)
  }
}

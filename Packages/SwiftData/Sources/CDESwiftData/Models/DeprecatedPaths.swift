/// The key paths of a model's deprecated properties, for the expansion of ``Model()``.
///
/// The compiler warns of a key path to a deprecated property, in generated code that its author can't change. It does not warn in a deprecated
/// declaration, nor of one that is called as the witness of a protocol.
public nonisolated protocol _DeprecatedPaths {
  /// The key paths in the order of the properties.
  static var paths: [AnyKeyPath] { get }
}

extension _DeprecatedPaths {
  /// The key path at a position.
  public nonisolated static func path(_ index: Int) -> AnyKeyPath { paths[index] }
}

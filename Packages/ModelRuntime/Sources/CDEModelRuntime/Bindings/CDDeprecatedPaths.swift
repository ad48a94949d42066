public import Observation

/// The key paths of a model's deprecated properties.
///
/// Generated code needs a key path to each property, and the compiler warns of one to a deprecated property, in code that its author can't
/// change. It does not warn in a deprecated declaration, nor of one that is called as the witness of a protocol.
public nonisolated protocol CDDeprecatedPaths {
  /// The class that the key paths start from: a model, or one that inherits from it.
  associatedtype __CDRoot
  /// The key paths in the order of the properties.
  static var paths: [PartialKeyPath<__CDRoot>] { get }
}

extension CDDeprecatedPaths {
  /// The key path at a position.
  public nonisolated static func path(_ index: Int) -> PartialKeyPath<__CDRoot> { paths[index] }

  /// Wakes the readers of the property at a position.
  public nonisolated static func wake(
    _ index: Int, of object: __CDRoot, by registrar: CDEObservationRegistrarBox
  ) where __CDRoot: Observable {
    let path = paths[index]
    func wake<Value>(_ type: Value.Type) {
      guard let path = path as? KeyPath<__CDRoot, Value> else { return }
      registrar.withMutation(of: object, keyPath: path) {}
    }
    // The registrar asks for the type of the value, which the list does not have.
    _openExistential(type(of: path).valueType, do: wake)
  }
}

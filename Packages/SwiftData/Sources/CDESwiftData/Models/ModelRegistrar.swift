internal import CDEModelRuntime

/// The readers of one model's properties, under the name that SwiftData's expansion has: `_$observationRegistrar`.
///
/// Computed and transient properties tell it of their reads and changes, if readers of them should wake:
///
/// ```swift fragment
/// var fullName: String {
///   get {
///     _$observationRegistrar.access(self, keyPath: \.fullName)
///     return computedName()
///   }
///   set { _$observationRegistrar.withMutation(of: self, keyPath: \.fullName) { split(newValue) } }
/// }
/// ```
public struct _ModelRegistrar {
  private let object: _ModelObject

  /// The readers of an object's model.
  public init(_ object: _ModelObject) { self.object = object }

  /// Records that a property is read.
  public func access<Model: PersistentModel, Value>(_ model: Model, keyPath: KeyPath<Model, Value>) {
    object._cdOwnTrackingRegistrar()?.access(model, keyPath: keyPath)
  }

  /// Runs a change of a property, and wakes its readers.
  public func withMutation<Model: PersistentModel, Value, Result>(
    of model: Model, keyPath: KeyPath<Model, Value>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    guard let registrar = object._cdExistingRegistrar() else { return try mutation() }
    return try registrar.withMutation(of: model, keyPath: keyPath, mutation)
  }
}

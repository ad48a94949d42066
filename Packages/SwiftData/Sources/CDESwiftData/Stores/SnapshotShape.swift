@_spi(CDE) internal import CDEExecutors
internal import CDEManagedModel
internal import Foundation

/// The properties of a model class, as snapshots have them.
final class SnapshotShape: @unchecked Sendable {
  // Guard: immutable.

  /// What a property holds.
  enum Kind {
    /// A value of a type, in the form that its shape says; without a shape the bytes that a transformer makes.
    case attribute(any Any.Type, ValueShape?)
    case toOne
    case toMany
  }

  struct Property {
    let name: String
    let kind: Kind
    let defaultValue: Any?
  }

  let info: _ModelInfo
  /// The name of the class's entity.
  let entity: String
  /// The properties of the class and of those above it. Ephemeral ones are in no store.
  let properties: [Property]

  private static let known = Lock<[ObjectIdentifier: SnapshotShape]>([:])

  static func of(_ info: _ModelInfo) -> SnapshotShape {
    let id = ObjectIdentifier(info)
    if let found = known.withLock({ $0[id] }) { return found }
    let made = SnapshotShape(info)
    return known.withLock { known in
      if let found = known[id] { return found }
      known[id] = made
      return made
    }
  }

  private init(_ info: _ModelInfo) {
    self.info = info
    entity = Schema.entityName(for: info.type)
    let metadata = Dictionary(info.metadata.map { ($0.name, $0) }) { first, _ in first }
    properties = info.names.indices.compactMap { ordinal in
      let (name, shape) = info.attribute(ordinal)
      guard let entry = metadata[name] else { return nil }
      let type = entry.valueType
      if let model = ModelReference(type) {
        return Property(name: name, kind: model.isCollection ? .toMany : .toOne, defaultValue: nil)
      }
      let written = entry.metadata as? Schema.Attribute
      if written?.options.contains(.ephemeral) == true { return nil }
      return Property(
        name: name, kind: .attribute(type, shape),
        defaultValue: entry.defaultValue ?? written?.defaultValue)
    }
  }
}

/// What the code of a store is called for, for what it can't be given as a parameter.
enum StoreScope {
  /// The schema of the container whose store is called. Snapshots are decoded by it.
  @TaskLocal static var prepared: PreparedSchema?
  /// The context that causes a call of a store.
  @TaskLocal static var editing: EditingState?
  /// The stores of the container that fetches. Identifiers in predicates are found in them.
  @TaskLocal static var core: ContainerCore?
}

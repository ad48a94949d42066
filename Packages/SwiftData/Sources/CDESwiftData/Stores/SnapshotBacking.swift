@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// Models without a context that have the values and the identities of snapshots, for snapshots of an application's own type.
///
/// They exist while such a snapshot is made of them.
final class SnapshotBacking: @unchecked Sendable {
  // Guard: used by the thread that makes snapshots alone, within `withValue` of the task-local value.
  @TaskLocal private static var current: SnapshotBacking?

  private var objects: [PersistentIdentifier: _ModelObject] = [:]
  private var identifiers: [ObjectIdentifier: PersistentIdentifier] = [:]
  private let prepared: PreparedSchema

  private init(_ prepared: PreparedSchema) { self.prepared = prepared }

  /// The identity that the object of a model without a context stands for.
  static func identifier(of object: _ModelObject) -> PersistentIdentifier? {
    guard let current, object.managedObjectContext == nil else { return nil }
    return current.identifiers[ObjectIdentifier(object)]
  }

  /// Makes snapshots of another type.
  ///
  /// - Parameter known: the other snapshots of the same request, whose values related models have.
  static func convert<Snapshot: DataStoreSnapshot>(
    _ snapshots: [DefaultSnapshot], _ known: [DefaultSnapshot], as type: Snapshot.Type,
    _ prepared: PreparedSchema
  ) -> [Snapshot] {
    if let same = snapshots as? [Snapshot] { return same }
    let backing = SnapshotBacking(prepared)
    for snapshot in known { backing.fill(snapshot) }
    return $current.withValue(backing) {
      snapshots.map { snapshot in
        let object = backing.object(snapshot.persistentIdentifier, snapshot.shape.info)
        var related: [PersistentIdentifier: any BackingData] = [:]
        for ids in snapshot.references.values {
          for id in ids { related[id] = backing.objects[id]?.backing() }
        }
        return Snapshot(from: object.backing(), relatedBackingDatas: &related)
      }
    }
  }

  private func object(_ id: PersistentIdentifier, _ info: _ModelInfo) -> _ModelObject {
    if let known = objects[id] { return known }
    let made = info.makeObject()
    made.fillWithZeros()
    objects[id] = made
    identifiers[ObjectIdentifier(made)] = id
    return made
  }

  private func fill(_ snapshot: DefaultSnapshot) {
    let object = object(snapshot.persistentIdentifier, snapshot.shape.info)
    for property in snapshot.shape.properties {
      switch property.kind {
      case .attribute(_, nil):
        let value = try? TransformableCoding.decode(
          snapshot.values[property.name] as? Data,
          transformer: object.entity.attributesByName[property.name]?.valueTransformerName,
          entity: snapshot.shape.entity, property: property.name)
        object.setValue(value ?? nil, forKey: property.name)
      case .attribute: object.setValue(snapshot.values[property.name], forKey: property.name)
      case .toOne, .toMany:
        guard let ordinal = object.info.ordinal(named: property.name) else { continue }
        let others = (snapshot.references[property.name] ?? []).compactMap { id in
          prepared.info(named: id.entityName).map { self.object(id, $0) }
        }
        if property.isToMany { object.setMany(ordinal, others) } else { object.setOne(ordinal, others.first) }
      }
    }
  }
}

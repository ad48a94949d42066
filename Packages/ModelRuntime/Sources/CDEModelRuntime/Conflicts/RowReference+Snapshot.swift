internal import CDEStore
internal import Foundation

extension RowReference {
  /// Attributes and to-one relationships of an object's row, by name.
  func snapshot(of id: NSManagedObjectID) -> [String: Any] {
    let binding = id.binding.model.entities[batch.layout.entity]
    var values: [String: Any] = [:]
    for info in binding.properties where !info.cells.isEmpty {
      switch info.kind {
      case .attribute(let type): values[info.name] = value(info, id).any(as: type) ?? NSNull()
      case .composite: values[info.name] = value(info, id).any(as: .composite) ?? NSNull()
      case .toOne: values[info.name] = destination(of: info, in: binding, id) ?? NSNull()
      case .toMany: break
      }
    }
    return values
  }

  private func value(_ info: PropertyInfo, _ id: NSManagedObjectID) -> _PropertyValue {
    do {
      return try value(of: info) { external in
        guard let store = id.store?.store else { throw StoreError(.closed, "The store is no longer loaded.") }
        return Data(try store.externalValue(external))
      }
    } catch {
      // The file may have been deleted with the row that named it. The snapshot then has no value.
      Diagnostics.report("\(batch.layout.entityName).\(info.name) of a conflict could not be read: \(error)")
      return .null
    }
  }

  private func destination(
    of info: PropertyInfo, in binding: EntityBinding, _ id: NSManagedObjectID
  ) -> NSManagedObjectID? {
    guard let cell = info.cells.first, let key = batch.integer(row, cell) else { return nil }
    let concrete = info.entityCell(in: binding.layout).flatMap { batch.entity(row, $0) }
    let isKnown = concrete.map(info.destinations.contains) ?? false
    let entity = binding.model.entities[isKnown ? concrete! : info.destination]
    return NSManagedObjectID(binding: entity, key: key, store: id.store)
  }
}

extension NSManagedObject {
  /// The current values of some properties. A path into a composite counts as the whole composite.
  func snapshot(of names: [String]) -> [String: Any] {
    var values: [String: Any] = [:]
    for name in names {
      guard let info = name.split(separator: ".").first.flatMap({ _binding.property(String($0)) }) else {
        continue
      }
      values[info.name] = snapshotValue(info)
    }
    return values
  }

  private func snapshotValue(_ info: PropertyInfo) -> Any {
    guard info.kind == .toOne else { return anyValue(info) ?? NSNull() }
    return toOne(info.slot)?.objectID ?? NSNull()
  }
}

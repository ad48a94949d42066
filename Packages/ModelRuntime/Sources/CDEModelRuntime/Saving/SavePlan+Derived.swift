internal import CDEManagedModel
@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

// Derived attributes: those that follow from the object alone are computed here, the others by the store.
extension SavePlan {
  /// The slots of a row to be written, without those that follow from others.
  func withoutDerived(_ slots: PropertySet, of binding: EntityBinding) -> PropertySet {
    var slots = slots
    if !binding.storedDerivations.isEmpty { slots = slots.subtracting(binding.storedDerivations) }
    for info in binding.savedDerivations { slots.remove(info.slot) }
    return slots
  }

  /// The slots to be written because others are.
  func derivedSlots(following given: PropertySet, of binding: EntityBinding) -> PropertySet {
    var slots = PropertySet()
    for info in binding.savedDerivations {
      let source = info.derivation?.sourceAttribute.flatMap { binding.layout.slot(named: $0) }
      if source.map(given.contains) ?? true { slots.insert(info.slot) }
    }
    return slots
  }

  func value(of derivation: StoreDerivation, for object: NSManagedObject) -> _PropertyValue {
    guard let source = derivation.sourceAttribute.flatMap({ object._binding.property($0) }) else {
      return .real(now.timeIntervalSinceReferenceDate)
    }
    if let overlay = object._overlay, !overlay.values[source.slot].isUnset {
      return derivation.value(of: overlay.values[source.slot])
    }
    return derivation.value(of: object.storedValue(source))
  }

  /// Takes the rows with the store's derived values in place of those that were written.
  func takeDerived(_ result: CommitResult) {
    if result.derived.isEmpty { return }
    var rows: [RowKey: RowReference] = [:]
    for batch in result.derived {
      for row in 0..<batch.count {
        rows[RowKey(root: batch.layout.root, key: batch.key(row))] = RowReference(batch: batch, row: row)
      }
    }
    func take(_ written: inout [RowReference]) {
      for index in written.indices {
        let key = RowKey(root: written[index].batch.layout.root, key: written[index].key)
        if let row = rows.removeValue(forKey: key) { written[index] = row }
      }
    }
    take(&insertedRows)
    take(&rewrittenRows)
    derivedRows = Array(rows.values)
  }

  /// Adds the objects that were not changed themselves, but whose derived values follow from what was saved.
  func addDerived(to changes: inout [CommittedTransaction.Change], _ model: ModelBinding) {
    if derivedRows.isEmpty { return }
    var places: [RowKey: Int] = [:]
    for (index, change) in changes.enumerated() where change.row == nil && change.kind == .updated {
      places[RowKey(root: model.entities[change.entity].root, key: change.key)] = index
    }
    for row in derivedRows {
      let binding = model.entities[row.batch.layout.entity]
      if let index = places[RowKey(root: binding.root, key: row.key)] {
        changes[index].row = row
        changes[index].properties.formUnion(binding.storedDerivations)
      } else {
        changes.append(
          .init(
            kind: .updated, entity: binding.index, key: row.key, properties: binding.storedDerivations,
            row: row))
      }
    }
  }

  /// Lets the context's own objects have the derived values that follow from what was saved.
  func settleDerived(in registry: ObjectRegistry) {
    for row in derivedRows {
      let binding = registry.model.entities[row.batch.layout.entity]
      guard let object = registry.object(root: binding.root, key: row.key),
        !object.isFault, object._binding === binding
      else { continue }
      let known = RowReference(batch: object._batch, row: Int(object._row))
      if row.version == known.version {
        object.take(row.batch, row.row)
      } else {
        // Another writer changed the row as well. Its values come with its own commit, as taking the version here
        // would hide a conflict; the derived ones are newer than that commit.
        object.take(known, derivedFrom: row)
      }
    }
  }
}

extension StoreDerivation {
  /// What follows from the value of ``sourceAttribute``.
  func value(of source: _PropertyValue) -> _PropertyValue {
    guard case .text(let text) = source else { return .null }
    switch self {
    case .lowercase: return .text(text.lowercased())
    case .uppercase: return .text(text.uppercased())
    default: return .text(PredicateText.fold(text, [.caseInsensitive, .diacriticInsensitive]))
    }
  }

  /// The attribute of the same object that the value follows from.
  var sourceAttribute: String? {
    switch self {
    case .canonical(let name), .lowercase(let name), .uppercase(let name): name
    case .now, .copy, .count, .sum: nil
    }
  }
}

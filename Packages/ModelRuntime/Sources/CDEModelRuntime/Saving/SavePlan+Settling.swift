internal import CDEStore

// How the context comes out of a save.
extension SavePlan {
  /// Names of changed to-many relationships without an inverse, by root entity.
  ///
  /// Such a relationship may keep its owner in the member's row, which has room for one: an owner that had
  /// the member before must read its members again.
  private var oneWaySlots: [Int: Set<String>] {
    var names: [Int: Set<String>] = [:]
    visit({ $0.oneWay }, of: inserted, updated) { owner, slots in
      for slot in slots {
        names[owner._binding.root, default: []].insert(owner._binding.properties[slot].name)
      }
    }
    return names
  }

  private func unload(_ slots: [Int: Set<String>], in registry: ObjectRegistry) {
    if slots.isEmpty { return }
    for object in registry.all() {
      for name in slots[object._binding.root] ?? [] {
        guard let slot = object._binding.layout.slot(named: name),
          case .toMany(let members)? = object._overlay?.values[slot]
        else { continue }
        members.unload()
      }
    }
  }

  /// What was written, as other contexts see it.
  ///
  /// The store asks for it while other writers wait. So it changes no object and runs no code of the application.
  func committed(
    _ result: CommitResult, of model: ModelBinding, _ trace: CommitTrace, _ store: StoreHandle
  ) -> CommittedTransaction {
    takeDerived(result)
    var changes: [CommittedTransaction.Change] = []
    changes.reserveCapacity(inserted.count + updated.count + deleted.count)
    func add(
      _ kind: CommittedTransaction.Change.Kind, _ object: NSManagedObject, _ properties: PropertySet,
      _ row: RowReference?
    ) {
      changes.append(
        .init(
          kind: kind, entity: object._binding.index, key: row?.key ?? object._key, properties: properties,
          row: row))
    }
    var index = 0
    inserted[...].forEachUnretained { object in
      add(.inserted, object, object.changedSlots, insertedRows[index])
      index += 1
    }
    for object in unwritten {
      let properties = object.changedSlots
      if !properties.isEmpty { add(.updated, object, properties, nil) }
    }
    index = 0
    rewritten[...].forEachUnretained { object in
      add(.updated, object, object.changedSlots.union(rewrittenSlots[index]), rewrittenRows[index])
      index += 1
    }
    for object in deleted { add(.deleted, object, PropertySet(), nil) }
    addDerived(to: &changes, model)
    return CommittedTransaction(
      asOf: result.sequence, author: transaction.author, contextName: transaction.contextName,
      changes: changes, touched: Array(touched), trace: trace,
      model: model, store: store)
  }

  /// Points the objects at what was written.
  func settle(in registry: ObjectRegistry) {
    let oneWay = oneWaySlots
    registry.rekey(inserted) { insertedRows[$0].key }
    var index = 0
    inserted[...].forEachUnretained { object in
      object.settle(insertedRows[index])
      object.becomeSaved()
      index += 1
    }
    for object in unwritten { object.settle(nil) }
    index = 0
    rewritten[...].forEachUnretained { object in
      object.settle(rewrittenRows[index])
      index += 1
    }
    for object in deleted {
      object.becomeGone(.deletionSaved)
      object._overlay?.dropRelationships(keepingChanged: false)
      object.detach()
    }
    if !deleted.isEmpty { registry.vanished += 1 }
    settleDerived(in: registry)
    unload(oneWay, in: registry)
  }
}

internal import CDEStore

extension NSManagedObjectContext {
  func addTracker(_ tracker: any ContextTracker) {
    trackers.removeAll { $0.tracker == nil || $0.tracker === tracker }
    trackers.append(TrackerReference(tracker: tracker))
  }

  func removeTracker(_ tracker: any ContextTracker) {
    trackers.removeAll { $0.tracker == nil || $0.tracker === tracker }
  }

  /// Whether a tracker reads rows of an entity.
  func isTracked(_ entity: EntityIndex) -> Bool {
    trackers.contains { $0.tracker?.reads(entity) == true }
  }

  private func forEachTracker(_ body: (any ContextTracker) -> Void) {
    // A tracker may add or remove others.
    for tracker in trackers.compactMap(\.tracker) { body(tracker) }
  }

  /// Tells the trackers of an announcement.
  func tellTrackers(_ pending: PendingChanges, _ news: MergedNews?) {
    var changes = ContextChanges()
    for object in pending.objects {
      switch object.unsavedChange {
      case .insertion, .update: changes.changed.append(.init(object: object, properties: object.changedSlots))
      case .deletion: changes.deleted.append(object)
      case .none: break
      }
    }
    for object in pending.appeared + pending.refreshed {
      changes.changed.append(.init(object: object, properties: news?.properties[ObjectIdentifier(object)]))
    }
    changes.deleted += pending.deletedByMerge + pending.forgotten
    changes.changed += (news?.found ?? []).map { .init(object: $0, properties: nil) }
    changes.merged = news?.entities ?? []
    forEachTracker { $0.contextDidChange(changes) }
  }

  /// Notes for the trackers what a merge brings.
  ///
  /// - Parameter found: objects for changed rows that had none.
  func noteNews(_ changes: [ObjectChange], _ ids: MergedIDs, found: [NSManagedObject]) {
    if trackers.isEmpty { return }
    var news = MergedNews(found: found)
    for change in changes {
      if let properties = change.properties {
        news.properties[ObjectIdentifier(change.object), default: []].formUnion(properties)
      }
      news.entities.insert(change.object._binding.index)
    }
    for id in [ids.inserted, ids.updated, ids.deleted].joined() {
      if let binding = registry.model.entity(named: id.binding.name) { news.entities.insert(binding.index) }
    }
    merging.news = news
  }

  /// Tells the trackers of a merge that the context did not announce, because it concerns no registered object.
  func tellRemainingNews() {
    guard let news = merging.news else { return }
    merging.news = nil
    tellTrackers(PendingChanges(), news)
  }

  /// Tells the trackers what a save wrote.
  ///
  /// - Parameter updated: the changed objects of the save, also those whose rows it left as they were.
  func tellTrackersOfSave(_ committed: CommittedTransaction, _ updated: [NSManagedObject]) {
    guard trackers.contains(where: { $0.tracker?.followsSaves == true }) else { return }
    let written = committed.changes.compactMap { change in
      registry.object(root: registry.model.entities[change.entity].root, key: change.key)
    }
    let objects = Array(Set(written).union(updated))
    let entities = Set(committed.changes.map(\.entity)).union(committed.touched.map(\.entity))
    forEachTracker { if $0.followsSaves { $0.contextDidSave(objects, entities) } }
  }

  func tellTrackersOfReset() { forEachTracker { $0.contextDidReset() } }
}

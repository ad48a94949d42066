import CoreDataEvolution
import PackageModel

/// Brings the index up to date with package databases, in the background, a chunk at a time.
///
/// After each chunk it saves and lets go of all objects, so memory grows with the names and keys it
/// remembers and not with the objects.
@NSModelActor
actor Indexer {
  private static let chunkSize = 1000

  private var packages = NameTable<Package>()
  private var sections = NameTable<Section>()
  private var maintainers = NameTable<Maintainer>()
  private var known = KnownVersions()
  private var report = IndexReport()
  /// Names whose records could not be understood: what is known of them stays.
  private var protectedNames = Set<String>()
  private var isComplete = true

  /// Indexes everything in the sources, writes what is new or different, and removes what is gone.
  ///
  /// - Parameters:
  ///   - limit: how many records to read at most; nil for all. Then nothing is removed.
  ///   - run: the ``IndexRun`` to keep up to date.
  /// Ends early when its task is cancelled; the report then says so, and holds what was saved until then.
  ///
  /// - Throws: errors of the store. Records and sources that can't be read are in the report instead.
  func index(_ sources: [PackageSource], limit: Int?, run: NSManagedObjectID) async throws -> IndexReport {
    report = IndexReport()
    protectedNames = []
    isComplete = true
    // Another process may index the same records at the same time: its objects get this one's values.
    modelContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try known.load(from: modelContext)
    report.isFirst = known.isEmpty
    for source in sources {
      do {
        try await index(source, limit: limit, run: run)
      } catch let error as SourceError {
        report.notes.append("\(error)")
        isComplete = false
      }
    }
    report.isCancelled = Task.isCancelled
    if !report.isCancelled { try await removeVanished(limit: limit, run: run) }
    try await save(run, task: "done", isFinished: !report.isCancelled)
    return report
  }

  private func index(_ source: PackageSource, limit: Int?, run: NSManagedObjectID) async throws {
    let reader = try source.open()
    var chunk: [PackageRecord] = []
    try await save(run, task: source.name)
    do {
      while !Task.isCancelled, limit.map({ report.recordCount < $0 }) ?? true, let next = try reader.next() {
        switch next {
        case .record(let record):
          report.recordCount += 1
          chunk.append(record)
        case .malformed(let record):
          report.note(record, in: source.path)
          // Without its name there is no telling which package the record was to keep.
          if let name = record.name { protectedNames.insert(name) }
          if record.name == nil || record.isCut { isComplete = false }
        }
        if chunk.count == Self.chunkSize {
          try await write(chunk, source, run)
          chunk = []
        }
      }
    } catch let error as SourceError {
      try await write(chunk, source, run)
      throw error
    }
    try await write(chunk, source, run)
  }

  // MARK: Writing

  private func write(_ chunk: [PackageRecord], _ source: PackageSource, _ run: NSManagedObjectID) async throws
  {
    var news: [PackageRecord] = []
    for record in chunk {
      switch known.see(record) {
      case .unchanged: report.unchangedCount += 1
      case .repeated: report.repeatedCount += 1
      case .new, .changed: news.append(record)
      }
    }
    try write(news)
    try await save(run, task: source.name)
  }

  private func write(_ records: [PackageRecord]) throws {
    let context = modelContext
    let packages = try packages.objects(
      named: Set(records.flatMap { [$0.name] + $0.dependencies + $0.provides }), in: context)
    let sections = try sections.objects(named: Set(records.map(\.section)), in: context)
    let maintainers = try maintainers.objects(named: Set(records.map(\.maintainer)), in: context)
    for record in records {
      let key = record.key
      let version: Version
      if let id = known.id(for: key), let found = self[id, as: Version.self] {
        version = found
        report.note(.changed, key: key)
      } else {
        version = Version(context: context)
        version.key = key
        version.number = record.version
        version.architecture = record.architecture
        version.package = packages[record.name]
        report.note(.added, key: key)
      }
      version.digest = record.digest
      version.summary = record.summary
      version.installedSize = record.installedSize
      version.isInstalled = record.isInstalled
      version.section = sections[record.section]
      version.maintainer = maintainers[record.maintainer]
      version.update(
        dependencies: Set(record.dependencies.compactMap { packages[$0] }),
        provides: Set(record.provides.compactMap { packages[$0] }))
    }
  }

  /// Saves with the state of the run, then forgets all objects.
  private func save(_ run: NSManagedObjectID, task: String, isFinished: Bool = false) async throws {
    report.saveCount += 1
    if let run = self[run, as: IndexRun.self] {
      // A value that stays the same is not written, so its readers are not woken.
      run.update(\.task, task)
      run.update(\.isFinished, isFinished)
      run.update(\.recordCount, report.recordCount)
      run.update(\.addedCount, report.addedCount)
      run.update(\.changedCount, report.changedCount)
      run.update(\.removedCount, report.removedCount)
      run.update(\.malformedCount, report.malformedCount)
      run.update(\.saveCount, report.saveCount)
    }
    try await saveObservedChanges()
    packages.remember()
    sections.remember()
    maintainers.remember()
    modelContext.reset()
  }

  // MARK: Removing

  /// Deletes the versions that no source lists any more, and the names that nothing mentions then.
  private func removeVanished(limit: Int?, run: NSManagedObjectID) async throws {
    let vanished = known.unseen.filter { key in
      !protectedNames.contains(String(key.prefix { $0 != " " }))
    }
    if !vanished.isEmpty {
      guard limit == nil else {
        report.notes.append("Versions not among the records read were kept, because of the limit.")
        return
      }
      guard isComplete, report.recordCount > 0 else {
        report.notes.append("Versions not found were kept, because not everything could be read.")
        return
      }
      for start in stride(from: 0, to: vanished.count, by: Self.chunkSize) {
        let keys = Array(vanished[start...].prefix(Self.chunkSize))
        let request = Version.fetchRequest()
        request.predicate = NSPredicate(format: "key IN %@", keys)
        request.relationshipKeyPathsForPrefetching = ["dependencies", "provides"]
        for version in try modelContext.fetch(request) {
          report.note(.removed, key: version.key)
          modelContext.delete(version)
        }
        try await save(run, task: "removing")
      }
    }
    guard report.changedCount + report.removedCount > 0 else { return }
    try await removeUnused(
      Package.self, "versions.@count == 0 AND providers.@count == 0 AND dependents.@count == 0", run)
    try await removeUnused(Section.self, "versions.@count == 0", run)
    try await removeUnused(Maintainer.self, "versions.@count == 0", run)
  }

  private func removeUnused<Object: Named>(_: Object.Type, _ condition: String, _ run: NSManagedObjectID)
    async throws
  {
    let request = Object.fetchRequest()
    request.predicate = NSPredicate(format: condition)
    let unused = try modelContext.fetch(request)
    guard !unused.isEmpty else { return }
    for object in unused { modelContext.delete(object) }
    try await save(run, task: "removing")
  }
}

extension Version {
  /// Makes these its dependencies and what it provides, changing only what differs.
  fileprivate func update(dependencies wanted: Set<Package>, provides names: Set<Package>) {
    let oldDependencies = dependencies
    if oldDependencies != wanted {
      removeFromDependencies(oldDependencies.subtracting(wanted))
      addToDependencies(wanted.subtracting(oldDependencies))
    }
    let oldNames = provides
    if oldNames != names {
      removeFromProvides(oldNames.subtracting(names))
      addToProvides(names.subtracting(oldNames))
    }
  }
}

extension IndexRun {
  fileprivate func update<Value: Equatable>(
    _ property: ReferenceWritableKeyPath<IndexRun, Value>, _ value: Value
  ) {
    if self[keyPath: property] != value { self[keyPath: property] = value }
  }
}

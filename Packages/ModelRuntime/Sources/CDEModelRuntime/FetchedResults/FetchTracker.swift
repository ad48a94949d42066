@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

/// Keeps the result of a fetch in step with its context.
///
/// Collects the names of changed objects, and carries them out when its owner asks for it. So changes that come while the
/// owner is busy become one update.
///
/// A change is carried out for the named objects alone. Only four kinds of changes need the whole fetch again: changes of
/// objects that the fetch reads along relationships, merges if it reads members of to-many relationships, a reset, and all
/// changes if a limit is to be kept.
final class FetchTracker: ContextTracker {
  let context: NSManagedObjectContext
  private(set) var content: FetchedContent
  private var rules: FetchRules
  /// Called when there are changes to carry out.
  var onNews: () -> Void = {}
  /// The number of fetches. Another one replaces the content.
  private(set) var fetches = 0
  private var news = News()
  /// Whether all entries of the content have keys.
  private var isKeyed = false
  private let keepsLimit: Bool

  /// What happened since the last update.
  private struct News {
    struct Object {
      var object: NSManagedObject
      /// The changed properties; nil if they are not known.
      var properties: PropertySet?
      /// Whether the object counts as changed even if it keeps its place.
      var isAnnounced: Bool
    }
    var objects: [Object] = []
    var places: [ObjectIdentifier: Int] = [:]
    /// Whether the whole fetch is needed.
    var isWide = false
    /// Whether the context has dropped its objects.
    var wasReset = false

    var isEmpty: Bool { objects.isEmpty && !isWide && !wasReset }

    mutating func add(_ object: NSManagedObject, _ properties: PropertySet?, isAnnounced: Bool = true) {
      guard let place = places[ObjectIdentifier(object)] else {
        places[ObjectIdentifier(object)] = objects.count
        objects.append(Object(object: object, properties: properties, isAnnounced: isAnnounced))
        return
      }
      if isAnnounced, objects[place].isAnnounced {
        objects[place].properties = properties.flatMap { objects[place].properties?.union($0) }
      } else if isAnnounced {
        objects[place] = Object(object: object, properties: properties, isAnnounced: true)
      }
    }
  }

  /// Fetches.
  ///
  /// - Parameters:
  ///   - title: makes the titles of sections.
  ///   - keepsLimit: whether the limit and the offset hold after changes, too. Each change then needs the whole fetch.
  ///   - check: throws for objects that the owner can't use.
  init(
    _ plan: FetchPlan, sectionKeyPath: String?, in context: NSManagedObjectContext,
    title: ((String) -> String?)?, keepsLimit: Bool = false,
    checking check: ([NSManagedObject]) throws -> Void
  ) throws {
    self.context = context
    self.keepsLimit = keepsLimit
    rules = try FetchRules(plan, sectionKeyPath: sectionKeyPath)
    content = FetchedContent(isSectioned: sectionKeyPath != nil, title: title)
    try fill(check)
    context.addTracker(self)
  }

  /// Fetches again, with another plan.
  func fetch(
    _ plan: FetchPlan, sectionKeyPath: String?, title: ((String) -> String?)?,
    checking check: ([NSManagedObject]) throws -> Void
  ) throws {
    let former = (rules, content)
    do {
      rules = try FetchRules(plan, sectionKeyPath: sectionKeyPath)
      content = FetchedContent(isSectioned: sectionKeyPath != nil, title: title)
      try fill(check)
    } catch {
      (rules, content) = former
      throw error
    }
    fetches += 1
    news = News()
  }

  private func fill(_ check: ([NSManagedObject]) throws -> Void) throws {
    announcePending()
    let objects = try context.fetchObjects(rules.plan)
    try check(objects)
    try arrange(objects)
    isKeyed = false
    // Whether a derived value has changed is known by its former value only.
    if rules.reach.readsDerived {
      var finder = ChangeFinder(content: content, rules: rules, context: context)
      try finder.makeKeys { _ in false }
      isKeyed = finder.changes.isEmpty
    }
  }

  private func arrange(_ objects: [NSManagedObject]) throws {
    guard rules.isSectioned else {
      for object in objects { content.append(object, to: content.sections[0]) }
      return
    }
    var sections: [FetchedSection] = []
    var names: Set<String> = []
    for (index, object) in objects.enumerated() {
      let name = rules.sectionName(of: object)
      if sections.last?.name != name {
        guard names.insert(name).inserted else { throw outOfOrder(index, name) }
        sections.append(content.makeSection(name))
      }
      content.append(object, to: sections[sections.count - 1])
    }
    content.arrange(sections)
  }

  private func outOfOrder(_ index: Int, _ name: String) -> ManagedObjectError {
    ManagedObjectError(
      .unsupportedRequest,
      "The fetched object at index \(index) has an out of order section name \"\(name)\". Objects must be sorted by "
        + "section name: let the first sort descriptor have the section key path, or a key path with the same order.",
      entity: rules.plan.binding.name)
  }

  /// Announces changes that the fetch will find, so that they are not announced as changes of the result later.
  private func announcePending() {
    if !context.isSaving { context.processPendingChanges() }
  }

  /// Drops all objects on the context's isolation. Called when the owner is freed, on any thread.
  func end() {
    let executor = context.executor
    if context.isIsolatedHere { return drop() }
    let carrier = Carrier(self)
    executor.enqueue { carrier.value.drop() }
  }

  private func drop() {
    context.removeTracker(self)
    news = News()
    content = FetchedContent(isSectioned: false, title: nil)
  }

  // MARK: Collecting

  var hasNews: Bool { !news.isEmpty }

  /// Forgets the changed objects. The next update fetches.
  func forgetNews() {
    if news.isEmpty { return }
    news = News()
    news.isWide = true
  }

  func reads(_ entity: EntityIndex) -> Bool {
    rules.covers(entity) || rules.reach.related.contains(entity)
  }

  func contextDidChange(_ changes: ContextChanges) {
    for change in changes.changed { note(change.object, change.properties) }
    for object in changes.deleted { note(object, nil) }
    if !changes.merged.isDisjoint(with: rules.reach.related) { news.isWide = true }
    if rules.reach.readsMembers, changes.merged.contains(where: rules.covers) { news.isWide = true }
    if !news.isEmpty { onNews() }
  }

  private var isLimited: Bool { rules.plan.limit != nil || rules.plan.offset != 0 }

  private func note(_ object: NSManagedObject, _ properties: PropertySet?) {
    let entity = object._binding.index
    if rules.covers(entity) {
      news.add(object, properties)
      if keepsLimit, isLimited { news.isWide = true }
    }
    if rules.reach.related.contains(entity) { news.isWide = true }
  }

  var followsSaves: Bool { rules.reach.readsDerived || !rules.reach.related.isEmpty }

  func contextDidSave(_ objects: [NSManagedObject], _ entities: Set<EntityIndex>) {
    // The store computes derived values, and a save drops references to objects that another writer deleted.
    if rules.reach.readsDerived || !rules.reach.related.isEmpty {
      for object in objects where rules.covers(object._binding.index) {
        news.add(object, nil, isAnnounced: false)
      }
    }
    // A fetch asks the store about objects without changes, and the store knows the related objects' changes from now on.
    if !entities.isDisjoint(with: rules.reach.related) { news.isWide = true }
    if !news.isEmpty { onNews() }
  }

  func contextDidReset() {
    news = News()
    news.wasReset = true
    onNews()
  }

  /// Whether the context was reset, and no fetch or update followed.
  var wasReset: Bool { news.wasReset }

  // MARK: Updating

  /// Carries out the changes since the last update.
  ///
  /// - Parameter willChange: called before the content changes, if it does.
  /// - Returns: nil if nothing changed; the update and the changed properties of objects, as far as they are known.
  /// - Throws: the errors of a fetch. The changes are then forgotten, and the next update fetches.
  func update(
    _ willChange: () -> Void = {}
  ) throws -> (update: FetchedUpdate, properties: [ObjectIdentifier: PropertySet])? {
    var news = self.news
    self.news = News()
    let changes: FetchedChanges
    do {
      if news.wasReset { news = try findAgain() }
      changes = try self.changes(news)
    } catch {
      self.news.isWide = true
      throw error
    }
    if changes.isEmpty { return nil }
    let fetch = fetches
    willChange()
    guard fetch == fetches, !self.news.wasReset else { return nil }
    let update = content.apply(changes, rules)
    let properties = news.objects.compactMap { item in
      item.properties.map { (ObjectIdentifier(item.object), $0) }
    }
    return (update, Dictionary(properties) { one, _ in one })
  }

  private func changes(_ news: News) throws -> FetchedChanges {
    let isWide = news.isWide || needsStore(news)
    if isWide { announcePending() }
    context.fireAll(news.objects.lazy.map(\.object).filter { $0._registry === self.context.registry })
    var finder = ChangeFinder(content: content, rules: rules, context: context)
    if !isKeyed {
      try finder.makeKeys { news.places[ObjectIdentifier($0)] != nil }
      isKeyed = true
    }
    if isWide {
      let objects = try wholeResult(news)
      try finder.compare(with: objects) { object in
        news.places[ObjectIdentifier(object)].map { news.objects[$0].isAnnounced } ?? false
      }
    } else {
      for item in news.objects { try finder.examine(item.object, isAnnounced: item.isAnnounced) }
    }
    return finder.changes
  }

  /// Whether a fetch would ask the store about a named object, and the store does not know changes of related objects.
  private func needsStore(_ news: News) -> Bool {
    let related = rules.reach.related
    if related.isEmpty || news.objects.allSatisfy(\.object.hasChanges) { return false }
    return context.changed.contains { related.contains($0._binding.index) && $0.hasChanges }
  }

  /// The objects that belong to the result now.
  private func wholeResult(_ news: News) throws -> [NSManagedObject] {
    var plan = rules.plan
    plan.includesPending = true
    if keepsLimit || !isLimited { return try context.fetchObjects(plan) }
    // A limit applies to the first fetch. Afterwards the objects that it left out belong to the result when they change.
    let known = content.objects
    let others = news.objects.lazy.map(\.object).filter { self.content.entry(of: $0) == nil }
    return try (known + others).filter { try rules.contain($0, of: context) }
  }

  /// Finds the objects that stand for the rows of the result after a reset.
  private func findAgain() throws -> News {
    var news = News()
    news.isWide = true
    var found: [NSManagedObjectID: NSManagedObject] = [:]
    for object in try context.fetchObjects(rules.plan) { found[object.objectID] = object }
    content.replaceObjects { found[$0] }
    content.forEach { news.add($0.object, nil) }
    isKeyed = false
    return news
  }
}

/// Finds out how the entries of a result have to change.
private struct ChangeFinder {
  let content: FetchedContent
  let rules: FetchRules
  let context: NSManagedObjectContext
  private(set) var changes = FetchedChanges()

  init(content: FetchedContent, rules: FetchRules, context: NSManagedObjectContext) {
    self.content = content
    self.rules = rules
    self.context = context
  }

  /// Gives the entries their keys, before the first change of the content.
  ///
  /// Entries that are not in the order of their keys have to move. That happens if a fetch ignored unsaved changes, or if
  /// values were set without a change.
  ///
  /// - Parameter isNamed: whether an object is examined anyway.
  mutating func makeKeys(_ isNamed: (NSManagedObject) -> Bool) throws {
    for section in content.sections {
      var entries: [FetchedEntry] = []
      var isOrdered = true
      try section.forEach { entry in
        let keys = try rules.keys(of: entry.object)
        if isNamed(entry.object) { return }
        if let last = entries.last?.keys, rules.precede(keys, last) { isOrdered = false }
        entry.keys = keys
        entries.append(entry)
      }
      if isOrdered { continue }
      let sorted = entries.indices.sorted { left, right in
        if rules.precede(entries[left].keys!, entries[right].keys!) { return true }
        return !rules.precede(entries[right].keys!, entries[left].keys!) && left < right
      }
      let kept = longestAscendingPart(of: sorted)
      for index in entries.indices where !kept.contains(index) {
        let entry = entries[index]
        changes.placed.append(.init(entry: entry, keys: entry.keys!, sectionName: section.name))
      }
    }
    unordered = Set(changes.placed.map { ObjectIdentifier($0.entry) })
  }
  /// Entries that have to move for the sake of the order.
  private var unordered: Set<ObjectIdentifier> = []

  mutating func examine(_ object: NSManagedObject, isAnnounced: Bool) throws {
    let entry = content.entry(of: object)
    guard try rules.contain(object, of: context) else {
      if let entry { changes.removed.append(entry) }
      return
    }
    try place(entry ?? FetchedEntry(object), isAnnounced: isAnnounced)
  }

  private mutating func place(_ entry: FetchedEntry, isAnnounced: Bool) throws {
    if unordered.contains(ObjectIdentifier(entry)) { return }
    let keys = try rules.keys(of: entry.object)
    let name = rules.sectionName(of: entry.object)
    if let section = entry.section, let known = entry.keys, section.name == name, rules.areEqual(keys, known)
    {
      if isAnnounced { changes.touched.append(entry) }
    } else {
      changes.placed.append(.init(entry: entry, keys: keys, sectionName: name))
    }
  }

  /// Compares the content with the objects of a fetch.
  mutating func compare(
    with objects: [NSManagedObject], isAnnounced: (NSManagedObject) -> Bool
  ) throws {
    var present = Set<ObjectIdentifier>()
    present.reserveCapacity(objects.count)
    for object in objects {
      present.insert(ObjectIdentifier(object))
      try place(content.entry(of: object) ?? FetchedEntry(object), isAnnounced: isAnnounced(object))
    }
    let removed = changes.placed.lazy.map(\.entry).filter {
      $0.section != nil && !present.contains(ObjectIdentifier($0.object))
    }
    let dropped = Set(removed.map(ObjectIdentifier.init))
    changes.placed.removeAll { dropped.contains(ObjectIdentifier($0.entry)) }
    content.forEach { entry in
      if !present.contains(ObjectIdentifier(entry.object)) { changes.removed.append(entry) }
    }
  }
}

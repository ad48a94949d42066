import CoreDataEvolution

/// What a process did that others have to respect.
struct GuildLog: Codable {
  /// For each guild's number and each writer the last mark that a save acknowledged.
  var marks: [Int: [Int: Int]] = [:]
  /// Guilds whose deletion was saved.
  var deleted: Set<Int> = []
  var saves = 0
  var refusals = 0

  mutating func add(_ other: GuildLog) {
    marks.merge(other.marks) { $0.merging($1) { $1 } }
    deleted.formUnion(other.deleted)
    saves += other.saves
    refusals += other.refusals
  }
}

/// Calls something before it resolves conflicts.
private final class InterruptedPolicy: NSMergePolicy, @unchecked Sendable {
  // Guard: the property is constant, and its value is Sendable.
  private let interrupt: @Sendable () -> Void

  init(_ type: NSMergePolicyType, _ interrupt: @escaping @Sendable () -> Void) {
    self.interrupt = interrupt
    super.init(merge: type)
  }

  override func resolve(mergeConflicts list: [Any]) throws {
    interrupt()
    try super.resolve(mergeConflicts: list)
  }
}

/// A process's part of the random program: some contexts over one store, driven step by step from one thread.
///
/// Each writer has a mark of its own in every guild, and sets the marks of the others to the values it has read, as an
/// importer does.
struct GuildWriters {
  let container: NSPersistentContainer
  let contexts: [NSManagedObjectContext]
  private let firstMark: Int
  /// Every object that a context knows of, kept alive so that merges find it.
  private var known: [[String: [NSManagedObject]]]
  private var random: SplitMix
  private(set) var log = GuildLog()
  private var made = 0
  private let limit = 24
  private var interruptions: [any NSObjectProtocol] = []

  /// - Parameter interrupt: is called inside of saves: before they write, and before a policy resolves their conflicts.
  init(
    _ path: String, seed: UInt64, process: Int, options: [String] = [],
    interrupt: (@Sendable () -> Void)? = nil
  ) throws {
    container = try GuildModel.open(path, options)
    random = SplitMix(seed: seed &+ UInt64(process) &* 0x9E37_79B9)
    firstMark = process * 3
    contexts = (0..<3).map { [container] _ in container.newBackgroundContext() }
    known = contexts.map { _ in [:] }
    let policies: [NSMergePolicy] = [.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump]
    for (context, policy) in zip(contexts, policies) {
      context.mergePolicy = policy
      context.automaticallyMergesChangesFromParent = true
      guard let interrupt else { continue }
      context.mergePolicy = InterruptedPolicy(policy.mergeType, interrupt)
      interruptions.append(
        NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextWillSave, object: context, queue: nil
        ) { _ in interrupt() })
    }
    for index in contexts.indices { try look(index) }
  }

  mutating func step() throws {
    let index = Int.random(in: contexts.indices, using: &random)
    let choice = Int.random(in: 0..<100, using: &random)
    var copy = self
    try contexts[index].performAndWait {
      switch choice {
      case 0..<14: copy.make(index)
      case 14..<34: copy.setOne(index)
      case 34..<52: copy.changeMany(index)
      case 52..<68: copy.mark(index)
      case 68..<76: copy.delete(index)
      case 76..<79: copy.contexts[index].refreshAllObjects()
      case 79..<83: try copy.look(index)
      default: try copy.save(index)
      }
    }
    self = copy
  }

  /// Ends with nothing unsaved, and with no interruptions.
  mutating func finish() throws {
    for observer in interruptions { NotificationCenter.default.removeObserver(observer) }
    for index in contexts.indices {
      var copy = self
      try contexts[index].performAndWait { try copy.save(index) }
      self = copy
    }
  }

  // MARK: Steps

  private mutating func pick(_ index: Int, _ entity: String) -> NSManagedObject? {
    let living = known[index][entity]?.filter { $0.managedObjectContext != nil && !$0.isDeleted } ?? []
    known[index][entity] = living
    return living.randomElement(using: &random)
  }

  private mutating func look(_ index: Int) throws {
    let context = contexts[index]
    var found: [String: [NSManagedObject]] = [:]
    try context.performAndWait {
      for entity in GuildModel.entities {
        found[entity] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      }
    }
    known[index] = found
  }

  private mutating func make(_ index: Int) {
    let entity = GuildModel.entities.randomElement(using: &random)!
    if known[index][entity, default: []].count >= limit { return delete(index) }
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: contexts[index])
    made += 1
    object.setValue((firstMark + index) * 10_000_000 + made, forKey: "number")
    if entity == "House", let guild = pick(index, "Guild") { object.setValue(guild, forKey: "guild") }
    known[index][entity, default: []].append(object)
  }

  private mutating func setOne(_ index: Int) {
    let (entity, name, destination) = GuildModel.ones.randomElement(using: &random)!
    guard let object = pick(index, entity) else { return }
    let value = Int.random(in: 0..<5, using: &random) == 0 ? nil : pick(index, destination)
    // Its own master would make a cascade of one; deeds change hands all the time.
    if value !== object { object.setValue(value, forKey: name) }
  }

  private mutating func changeMany(_ index: Int) {
    let (entity, name, destination, isOrdered) = GuildModel.manys.randomElement(using: &random)!
    guard let owner = pick(index, entity), let member = pick(index, destination), member !== owner else {
      return
    }
    let adds = Bool.random(using: &random)
    if isOrdered {
      let members = owner.mutableOrderedSetValue(forKey: name)
      if adds { members.add(member) } else { members.remove(member) }
    } else {
      let members = owner.mutableSetValue(forKey: name)
      if adds { members.add(member) } else { members.remove(member) }
    }
  }

  private mutating func mark(_ index: Int) {
    guard let guild = pick(index, "Guild") else { return }
    for (number, name) in GuildModel.marks.enumerated() {
      let value = guild.value(forKey: name) as? Int ?? 0
      guild.setValue(number == firstMark + index ? value + 1 : value, forKey: name)
    }
  }

  private mutating func delete(_ index: Int) {
    let entity = GuildModel.entities.randomElement(using: &random)!
    if let object = pick(index, entity) { contexts[index].delete(object) }
  }

  private mutating func save(_ index: Int) throws {
    let context = contexts[index]
    let guilds = context.updatedObjects.union(context.insertedObjects).filter { $0.entity.name == "Guild" }
    let doomed = context.deletedObjects.filter { $0.entity.name == "Guild" }
      .compactMap { $0.value(forKey: "number") as? Int }
    do {
      try context.save()
    } catch let error as ManagedObjectError where Self.expected.contains(error.code) {
      log.refusals += 1
      context.rollback()
      context.refreshAllObjects()
      return
    }
    log.saves += 1
    log.deleted.formUnion(doomed)
    for guild in guilds where guild.managedObjectContext != nil && !guild.isDeleted {
      guard let number = guild.value(forKey: "number") as? Int else { continue }
      let mark = firstMark + index
      log.marks[number, default: [:]][mark] = guild.value(forKey: GuildModel.marks[mark]) as? Int
    }
  }

  private static let expected: Set<ManagedObjectError.Code> = [
    .saveConflict, .missingMandatoryProperty, .relationshipDeniedDelete, .multipleValidationErrors,
  ]

  // MARK: Reading

  /// All objects as a context sees them, by ID: attributes, and the IDs of related objects.
  static func graph(_ context: NSManagedObjectContext) throws -> [String: [String: String]] {
    try context.performAndWait {
      var graph: [String: [String: String]] = [:]
      for entity in GuildModel.entities {
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
          graph[object.objectID.uriRepresentation().absoluteString] = values(object)
        }
      }
      return graph
    }
  }

  /// The objects that a context has in memory and that are no faults, without a fetch.
  static func held(_ context: NSManagedObjectContext) -> [String: [String: String]] {
    context.performAndWait {
      var graph: [String: [String: String]] = [:]
      for object in context.registeredObjects where !object.isFault && !object.isDeleted {
        graph[object.objectID.uriRepresentation().absoluteString] = values(object)
      }
      return graph
    }
  }

  private static func values(_ object: NSManagedObject) -> [String: String] {
    func id(_ value: Any?) -> String {
      (value as? NSManagedObject)?.objectID.uriRepresentation().lastPathComponent ?? "nil"
    }
    var values: [String: String] = [:]
    for name in object.entity.attributesByName.keys {
      values[name] = "\(object.value(forKey: name) ?? "nil")"
    }
    for (name, relationship) in object.entity.relationshipsByName {
      switch object.value(forKey: name) {
      case let set as NSSet: values[name] = set.allObjects.map(id).sorted().joined(separator: " ")
      case let list as NSOrderedSet: values[name] = list.array.map(id).joined(separator: " ")
      case let value: values[name] = relationship.isToMany ? "?" : id(value)
      }
    }
    return values
  }

  /// What a graph has otherwise than the stored one.
  ///
  /// - Parameter isWhole: whether the graph has all objects.
  static func differences(
    _ graph: [String: [String: String]], _ stored: [String: [String: String]],
    isWhole: Bool = true
  ) -> [String] {
    let unmatched =
      isWhole ? Set(graph.keys).symmetricDifference(stored.keys) : Set(graph.keys).subtracting(stored.keys)
    var found = unmatched.map { "\($0) is in one only" }
    for (id, values) in graph {
      guard let other = stored[id] else { continue }
      for (name, value) in values where other[name] != value {
        found.append("\(id).\(name): \(value) instead of \(other[name] ?? "?")")
      }
    }
    return found.sorted()
  }
}

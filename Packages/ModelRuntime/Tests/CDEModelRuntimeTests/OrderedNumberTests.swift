import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

/// Stores of Core Data's applications number the members of ordered relationships 1, 2, 4, … as well as 2048, 3072, …. The tests
/// give the members of a list such numbers, change the list, and read the numbers as the file has them.
@Suite("Numbers of the members of ordered relationships")
struct OrderedNumberTests {
  enum Kind: CaseIterable, Sendable {
    case oneToMany, manyToMany, oneWay, both

    /// Reads the members' keys and numbers in the order of a list.
    func places(_ list: String) -> String {
      switch self {
      case .oneToMany: "SELECT Z_PK, Z_FOK_LIST FROM ZTRACK WHERE ZLIST = \(list) ORDER BY Z_FOK_LIST"
      case .oneWay: "SELECT Z_PK, Z_FOK_1ONEWAY FROM ZTRACK WHERE Z1ONEWAY = \(list) ORDER BY Z_FOK_1ONEWAY"
      case .manyToMany:
        "SELECT Z_2MANYTOMANY, Z_FOK_2MANYTOMANY FROM Z_1MANYTOMANY WHERE Z_1LISTS = \(list) "
          + "ORDER BY Z_FOK_2MANYTOMANY"
      case .both: "SELECT Z_2BOTH, Z_FOK_2BOTH FROM Z_1BOTH WHERE Z_1BOTHLISTS = \(list) ORDER BY Z_FOK_2BOTH"
      }
    }

    /// Gives a member a number.
    func setting(_ number: Int64, of member: String, in list: String) -> String {
      switch self {
      case .oneToMany: "UPDATE ZTRACK SET Z_FOK_LIST = \(number) WHERE Z_PK = \(member)"
      case .oneWay: "UPDATE ZTRACK SET Z_FOK_1ONEWAY = \(number) WHERE Z_PK = \(member)"
      case .manyToMany:
        "UPDATE Z_1MANYTOMANY SET Z_FOK_2MANYTOMANY = \(number) WHERE Z_1LISTS = \(list) AND Z_2MANYTOMANY = \(member)"
      case .both:
        "UPDATE Z_1BOTH SET Z_FOK_2BOTH = \(number) WHERE Z_1BOTHLISTS = \(list) AND Z_2BOTH = \(member)"
      }
    }
  }

  private static func makeModel() -> NSManagedObjectModel {
    let list = entity("List", nil, [attribute("name", .stringAttributeType)])
    let track = entity("Track", nil, [attribute("name", .stringAttributeType)])
    connect(.many(list, "oneToMany", ordered: true), .one(track, "list"))
    connect(.many(list, "manyToMany", ordered: true), .many(track, "lists"))
    connect(.many(list, "both", ordered: true), .many(track, "bothLists", ordered: true))
    point(.many(list, "oneWay", ordered: true), to: track)
    return model(list, track)
  }

  /// A store with one list, whose members have given numbers.
  private struct World {
    let kind: Kind
    let stack: Stack
    let list: NSManagedObjectID

    init(_ kind: Kind, _ numbers: [Int64]) throws {
      self.kind = kind
      stack = try Stack(model: makeModel())
      let context = stack.context()
      let list = context.make("List")
      let tracks = numbers.indices.map { context.make("Track", ["name": "t\($0)"]) }
      list.setValue(NSOrderedSet(array: tracks), forKey: "\(kind)")
      try context.save()
      self.list = list.objectID
      for (track, number) in zip(tracks, numbers) {
        try stack.sql(kind.setting(number, of: Self.key(track), in: Self.key(list)))
      }
    }

    static func key(_ object: NSManagedObject) -> String {
      String(object.objectID.uriRepresentation().lastPathComponent.dropFirst())
    }

    func members(_ context: NSManagedObjectContext) throws -> NSMutableOrderedSet {
      let list = try context.existingObject(with: list)
      return NSMutableOrderedSet(array: list.list("\(kind)"))
    }

    func set(_ members: NSMutableOrderedSet, _ context: NSManagedObjectContext) throws {
      try context.existingObject(with: list).setValue(members, forKey: "\(kind)")
    }

    /// The keys and numbers in the file, in its order.
    func places() throws -> [(key: String, number: Int64?)] {
      let key = String(list.uriRepresentation().lastPathComponent.dropFirst())
      return try stack.sql(kind.places(key)).map { ($0[0], Int64($0[1])) }
    }

    func numbers() throws -> [Int64?] { try places().map(\.number) }

    /// The versions of the tracks' rows.
    func versions() throws -> [String: String] {
      let rows = try stack.sql("SELECT Z_PK, Z_OPT FROM ZTRACK")
      return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }
  }

  @Test(
    "An append and an insertion write one number, and other members keep theirs", arguments: Kind.allCases)
  func single(kind: Kind) throws {
    let world = try World(kind, [1, 2, 4, 5])
    let context = world.stack.context()
    var members = try world.members(context)
    members.add(context.make("Track"))
    try world.set(members, context)
    try context.save()
    #expect(try world.numbers() == [1, 2, 4, 5, 1029])
    members = try world.members(context)
    members.insert(context.make("Track"), at: 2)
    try world.set(members, context)
    try context.save()
    #expect(try world.numbers() == [1, 2, 3, 4, 5, 1029])
    // Without room the fewest neighbours move.
    members = try world.members(context)
    members.insert(context.make("Track"), at: 5)
    members.insert(context.make("Track"), at: 4)
    try world.set(members, context)
    try context.save()
    let numbers = try world.numbers().compactMap { $0 }
    #expect(numbers.count == 8 && numbers.prefix(4) == [1, 2, 3, 4] && numbers.last == 1029)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<))
  }

  @Test("An append is in no conflict with a writer that changed the other members")
  func conflicts() throws {
    let world = try World(.oneToMany, [1, 2, 3, 4])
    let (writer, other) = (world.stack.context(), world.stack.context())
    let members = try world.members(writer)
    for case let member as NSManagedObject in members { _ = member.value(forKey: "name") }
    for (index, track) in try other.all("Track", nil, sort: "name").enumerated() {
      track.setValue("other \(index)", forKey: "name")
    }
    try other.save()
    members.add(writer.make("Track"))
    try world.set(members, writer)
    try writer.save()
    #expect(try world.numbers() == [1, 2, 3, 4, 1028])
  }

  @Test("The history of an insertion between pairs names its list and its member, and no others")
  func history() throws {
    let stack = try Stack(
      model: Self.makeModel(), in: ProcessFolder.newURL(), options: NSPersistentHistoryTrackingKey)
    let context = stack.context()
    let list = context.make("List")
    let tracks = (0..<5).map { _ in context.make("Track") }
    list.setValue(NSOrderedSet(array: Array(tracks.dropLast())), forKey: "manyToMany")
    try context.save()
    list.mutableOrderedSetValue(forKey: "manyToMany").insert(tracks[4], at: 2)
    try context.save()
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
    let last = try #require((result.result as? [NSPersistentHistoryTransaction])?.last)
    let changes = (last.changes ?? []).map { [$0.changedObjectID: $0.updatedProperties?.map(\.name)] }
    #expect(Set(changes) == [[list.objectID: ["manyToMany"]], [tracks[4].objectID: ["lists"]]])
  }

  /// The least numbers that a list needs, by trying all members before each one.
  private func fewest(_ numbers: [Int64?]) -> Int {
    var kept = [Int](repeating: 0, count: numbers.count)
    for index in numbers.indices {
      guard let number = numbers[index] else { continue }
      if number > Int64(index) { kept[index] = 1 }
      for earlier in 0..<index where kept[earlier] > 0 && number - numbers[earlier]! >= Int64(index - earlier)
      {
        kept[index] = max(kept[index], kept[earlier] + 1)
      }
    }
    return numbers.count - (kept.max() ?? 0)
  }

  @Test(
    "Random changes keep the order, and write as few numbers and rows as possible", arguments: Kind.allCases)
  func random(kind: Kind) throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["CDE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    let rounds = environment["CDE_ORDER_ROUNDS"].flatMap(Int.init) ?? 2
    print("OrderedNumberTests \(kind) seed \(seed)")
    var draw = SplitMix(state: seed)
    for round in 0..<rounds {
      // Numbers side by side, with gaps, and with much room.
      let gap = [Int64(1), 2, 5, 1024].randomElement(using: &draw)!
      var numbers: [Int64] = []
      for _ in 0..<Int.random(in: 0..<14, using: &draw) {
        numbers.append((numbers.last ?? 0) + .random(in: 1...gap, using: &draw))
      }
      let world = try World(kind, numbers)
      let context = world.stack.context()
      for step in 0..<14 { try change(world, context, "seed \(seed), round \(round), step \(step)", &draw) }
    }
  }

  private func change(
    _ world: World, _ context: NSManagedObjectContext, _ comment: Comment, _ draw: inout SplitMix
  ) throws {
    let before = Dictionary(uniqueKeysWithValues: try world.places().map { ($0.key, $0.number) })
    let versions = try world.versions()
    let members = try world.members(context)
    var removed: Set<String> = []
    for _ in 0..<Int.random(in: 1...3, using: &draw) {
      let place = members.count == 0 ? 0 : Int.random(in: 0..<members.count, using: &draw)
      switch Int.random(in: 0..<8, using: &draw) {
      case 0, 1: members.add(context.make("Track"))
      case 2, 3: members.insert(context.make("Track"), at: place)
      case 4 where members.count > 0: members.removeObject(at: place)
      case 5 where members.count > 0:
        let moved = members.object(at: place)
        members.removeObject(at: place)
        members.insert(moved, at: Int.random(in: 0...members.count, using: &draw))
      case 6 where members.count > 1: members.exchangeObject(at: place, withObjectAt: 0)
      case 7 where Int.random(in: 0..<6, using: &draw) == 0:
        let reversed = members.reversed.array
        members.removeAllObjects()
        members.addObjects(from: reversed)
      default: members.insert(context.make("Track"), at: 0)
      }
    }
    try world.set(members, context)
    let wanted = members.array.compactMap { $0 as? NSManagedObject }
    let kept = Set(wanted.filter { !$0.objectID.isTemporaryID }.map(World.key))
    removed = Set(before.keys).subtracting(kept)
    let known = wanted.map { $0.objectID.isTemporaryID ? nil : before[World.key($0)] ?? nil }
    try context.save()
    let after = try world.places()
    #expect(after.map(\.key) == wanted.map(World.key), comment)
    let numbers = after.compactMap(\.number)
    #expect(numbers.count == after.count && zip(numbers, numbers.dropFirst()).allSatisfy(<), comment)
    #expect(numbers.allSatisfy { $0 > 0 }, comment)
    let written = after.filter { before[$0.key] ?? nil != $0.number }
    #expect(written.count == fewest(known), "\(comment): \(known) became \(numbers)")
    // A row is written for its number, or because it left the list.
    let rows = try world.versions().filter { versions[$0.key] != nil && versions[$0.key] != $0.value }
    let expected =
      world.kind == .oneToMany ? Set(written.map(\.key)).intersection(versions.keys).union(removed) : []
    #expect(Set(rows.keys) == expected, comment)
    let reader = world.stack.context()
    #expect(try world.members(reader).map { World.key($0 as! NSManagedObject) } == after.map(\.key), comment)
    if world.kind == .both {
      #expect(
        try world.stack.sql("SELECT count(*) FROM Z_1BOTH WHERE Z_FOK_1BOTHLISTS IS NULL") == [["0"]], comment
      )
    }
  }
}

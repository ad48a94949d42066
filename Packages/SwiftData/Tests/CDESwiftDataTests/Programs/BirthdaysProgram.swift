import CDESwiftData
import Testing

@Model
final class Friend: Comparable {
  var name: String
  var birthday: Date
  var nickname: String?
  var isPinned: Bool = false

  init(name: String, birthday: Date, nickname: String? = nil) {
    self.name = name
    self.birthday = birthday
    self.nickname = nickname
  }

  static func < (lhs: Friend, rhs: Friend) -> Bool { lhs.birthday < rhs.birthday }
}

@Suite("Birthdays, in pages")
struct BirthdaysProgram {
  let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(for: Friend.self, configurations: .init(isStoredInMemoryOnly: true)))
    for number in 0..<100 {
      context.insert(
        Friend(
          name: "Friend \(number)", birthday: Date(timeIntervalSince1970: Double((number * 37) % 100)),
          nickname: number % 10 == 0 ? "N\(number)" : nil))
    }
    try context.save()
  }

  @Test("Pages by limit and offset are a whole")
  func pages() throws {
    var descriptor = FetchDescriptor<Friend>(sortBy: [SortDescriptor(\.birthday, order: .forward)])
    descriptor.fetchLimit = 30
    var names: [String] = []
    for page in 0..<4 {
      descriptor.fetchOffset = page * 30
      names += try context.fetch(descriptor).map(\.name)
    }
    #expect(names.count == 100 && Set(names).count == 100)
    #expect(try context.fetchCount(FetchDescriptor<Friend>()) == 100)
    let all = try context.fetch(FetchDescriptor<Friend>())
    #expect(all.sorted().map(\.name) == names)
    #expect(all.max()?.birthday == Date(timeIntervalSince1970: 99))
  }

  @Test("Optional texts are compared and sorted")
  func nicknames() throws {
    let named = FetchDescriptor<Friend>(
      predicate: #Predicate { $0.nickname != nil }, sortBy: [SortDescriptor(\.nickname, comparator: .lexical)]
    )
    #expect(try context.fetch(named).first?.nickname == "N0")
    let starts = FetchDescriptor<Friend>(predicate: #Predicate { $0.nickname?.starts(with: "N9") == true })
    #expect(try context.fetch(starts).map(\.name) == ["Friend 90"])
    let flat = FetchDescriptor<Friend>(predicate: #Predicate { $0.nickname.flatMap { $0 == "N10" } == true })
    #expect(try context.fetch(flat).count == 1)
  }

  @Test("Only some properties are fetched, and pending changes are left out on request")
  func options() throws {
    context.insert(Friend(name: "New", birthday: .now))
    var descriptor = FetchDescriptor<Friend>(predicate: #Predicate { $0.name == "New" })
    #expect(try context.fetchCount(descriptor) == 1)
    descriptor.includePendingChanges = false
    #expect(try context.fetchCount(descriptor) == 0)
    #expect(try context.fetch(descriptor).isEmpty)
    var some = FetchDescriptor<Friend>(predicate: #Predicate { $0.name == "Friend 3" })
    some.propertiesToFetch = [\.name]
    #expect(try context.fetch(some).first?.birthday == Date(timeIntervalSince1970: 11))
  }

  @Test("A result in batches reads as an array does")
  func batches() throws {
    let results = try context.fetch(
      FetchDescriptor<Friend>(sortBy: [SortDescriptor(\.birthday)]), batchSize: 7)
    #expect(results.count == 100)
    #expect(results.map(\.birthday.timeIntervalSince1970) == (0..<100).map(Double.init))
    #expect(results[50].birthday == Date(timeIntervalSince1970: 50))
  }
}

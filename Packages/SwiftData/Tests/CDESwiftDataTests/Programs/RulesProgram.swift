import CDESwiftData
import Testing

@Model
final class Club {
  var name: String
  @Relationship(deleteRule: .deny, inverse: \Member.club) var members: [Member] = []
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Member.board) var board: [Member] = []
  init(name: String) { self.name = name }
}

@Model
final class Member {
  var name: String
  var club: Club?
  var board: Club?
  var lockers: [Locker] = []
  init(_ name: String) { self.name = name }
}

@Model
final class Locker {
  var number: Int
  init(_ number: Int) { self.number = number }
}

@Suite("Rules of relationships")
struct RulesProgram {
  func makeContext() throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Club.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  @Test("A club with members can't be deleted")
  func deny() throws {
    let context = try makeContext()
    let club = Club(name: "Chess")
    context.insert(club)
    club.board = [Member("Ada")]
    club.members = [club.board[0], Member("Alan")]
    try context.save()
    context.delete(club)
    #expect(throws: (any Error).self) { try context.save() }
    context.rollback()
    #expect(!club.isDeleted)
    for member in club.members { context.delete(member) }
    club.board = []
    context.delete(club)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Club>()) == 0)
  }

  @Test("A board has one or two members")
  func counts() throws {
    let context = try makeContext()
    let club = Club(name: "Chess")
    context.insert(club)
    #expect(throws: (any Error).self) { try context.save() }
    club.board = ["Ada", "Alan", "Grace"].map { Member($0) }
    #expect(throws: (any Error).self) { try context.save() }
    club.board.removeLast()
    try context.save()
    #expect(club.board.map(\.name) == ["Ada", "Alan"])
  }

  @Test("A relationship without an inverse keeps its models")
  func oneWay() throws {
    let context = try makeContext()
    let member = Member("Ada")
    context.insert(member)
    member.lockers = [Locker(1), Locker(2)]
    try context.save()
    let other = ModelContext(context.container)
    let found = try #require(try other.fetch(FetchDescriptor<Member>()).first)
    #expect(found.lockers.map(\.number).sorted() == [1, 2])
    found.lockers.removeAll { $0.number == 1 }
    try other.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Member>()).first?.lockers.map(\.number) == [2]
    )
  }
}

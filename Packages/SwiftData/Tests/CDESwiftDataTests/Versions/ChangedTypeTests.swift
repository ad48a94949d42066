import CDESwiftData
import Foundation
import Testing

@Suite("Properties whose type changes between versions", .serialized)
struct ChangedTypeTests {
  @Test("A stored value that the new type has no place for is not overwritten", .onSQLite)
  func unreadable() throws {
    let url = try TemporaryStore().url
    let old = try Garden.open(RosterV1.self, url)
    old.insert(RosterV1.Roster([1, 2, 3]))
    try old.save()

    let context = try Garden.open(RosterV2.self, url)
    let roster = try #require(try context.fetch(FetchDescriptor<RosterV2.Roster>()).first)
    #expect(roster.numbers.isEmpty)
    roster.numbers.append("9")
    let error = #expect(throws: (any Error).self) { try context.save() }
    #expect("\(error!)".contains("Roster.numbers"))
    context.rollback()

    let again = try Garden.open(RosterV1.self, url)
    #expect(try again.fetch(FetchDescriptor<RosterV1.Roster>()).map(\.numbers) == [[1, 2, 3]])

    // A value that is set without a look at the old one replaces it.
    let last = try Garden.open(RosterV2.self, url)
    try #require(try last.fetch(FetchDescriptor<RosterV2.Roster>()).first).numbers = ["9"]
    try last.save()
    #expect(try last.fetch(FetchDescriptor<RosterV2.Roster>()).map(\.numbers) == [["9"]])
  }
}

enum RosterV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Roster.self] }

  @Model
  final class Roster {
    var numbers: [Int]
    init(_ numbers: [Int]) { self.numbers = numbers }
  }
}

enum RosterV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Roster.self] }

  @Model
  final class Roster {
    var numbers: [String]
    init(_ numbers: [String]) { self.numbers = numbers }
  }
}

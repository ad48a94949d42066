import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

@PersistentModel
final class Memo: NSManagedObject {
  @Attribute(persistentName: "name") var title: String = ""
  var score: Int = 0
  var rating: Double?
  @Attribute(.transient) var draft: String?
  private var secret: Int = 0
  @Relationship(persistentName: "memo_group", inverse: "memos", deleteRule: .nullify) var group: MemoGroup?
  @Relationship(persistentName: "labels", inverse: "memos", deleteRule: .nullify) var tags: Set<Label>
}

@PersistentModel
final class MemoGroup: NSManagedObject {
  @Attribute(persistentName: "group_name") var name: String = ""
  @Relationship(inverse: "groups", deleteRule: .nullify) var shelf: Shelf?
  @Relationship(inverse: "memo_group", deleteRule: .nullify) var memos: [Memo]
}

@PersistentModel
final class Shelf: NSManagedObject {
  @Attribute(persistentName: "shelf_code") var code: String = ""
  @Relationship(inverse: "shelf", deleteRule: .nullify) var groups: Set<MemoGroup>
}

@PersistentModel
final class Label: NSManagedObject {
  @Attribute(persistentName: "tag_name") var name: String = ""
  var score: Int = 0
  var weight: Double?
  @Relationship(inverse: "labels", deleteRule: .nullify) var memos: Set<Memo>
}

let memoTypes: [any CDRuntimeSchemaProviding.Type] = [Memo.self, MemoGroup.self, Shelf.self, Label.self]

@Suite("Typed paths")
struct TypedPathTests {
  @Test("Paths carry the names of both sides")
  func names() {
    #expect(Memo.path.title.swiftPath == ["title"])
    #expect(Memo.path.title.raw == "name")
    #expect(Memo.Paths.title.persistentPath == ["name"])
    #expect(Memo.path.group.shelf.code.swiftPathKey == "group.shelf.code")
    #expect(Memo.path.group.shelf.code.persistentPathKey == "memo_group.shelf.shelf_code")
    #expect(Memo.path.group.shelf.persistentPathKey == "memo_group.shelf")
    #expect(Memo.path.tags.persistentPath == ["labels"])
    #expect(Memo.path.tags.any.name.raw == "labels.tag_name")
    #expect(type(of: Memo.path.rating) == CDPath<Memo, Double?>.self)
  }

  @Test("The table has attributes, relationships and what lies one hop away")
  func table() {
    #expect(
      Memo.__cdFieldTable.keys.sorted() == [
        "draft", "group", "group.name", "rating", "score", "secret", "tags", "tags.name", "tags.score",
        "tags.weight", "title",
      ])
    #expect(
      Memo.__cdRelationshipProjectionTable.keys.sorted() == ["draft", "rating", "score", "secret", "title"])
    #expect(
      Memo.__cdMeta(forSwiftPath: ["group", "name"])
        == CDFieldMeta(
          kind: .relationship, swiftPath: ["group", "name"], persistentPath: ["memo_group", "group_name"],
          storageMethod: .default, supportsStoreSort: true))
    #expect(
      Memo.__cdMeta(forSwiftPath: "tags.name")
        == CDFieldMeta(
          kind: .relationship, swiftPath: ["tags", "name"], persistentPath: ["labels", "tag_name"],
          storageMethod: .default, supportsStoreSort: false, isToManyRelationship: true))
    #expect(Memo.__cdMeta(forSwiftPath: "tags")?.isToManyRelationship == true)
    #expect(Memo.__cdPersistentPath(forSwiftPath: "title") == "name")
    #expect(Memo.__cdPersistentPath(forSwiftPath: "name") == nil)
    #expect(Memo.__cdMeta(forSwiftPath: "draft")?.supportsStoreSort == false)
    #expect(Memo.__cdSwiftNames == ["title", "score", "rating", "draft", "secret", "group", "tags"])
  }

  @Test("Filters print the formats of Core Data")
  func formats() {
    func format(_ predicate: NSPredicate) -> String { predicate.canonicalFormat }
    #expect(format(Memo.path.title.equals("Swift")) == "name == \"Swift\"")
    #expect(format(Memo.path.title.notEquals("Swift")) == "name != \"Swift\"")
    #expect(format(Memo.path.title.contains("Ä")) == "name CONTAINS[cd] \"Ä\"")
    #expect(format(Memo.path.title.contains("a", caseInsensitive: false)) == "name CONTAINS \"a\"")
    #expect(format(Memo.path.score.greaterThan(80)) == "score > 80")
    #expect(format(Memo.path.score.greaterThanOrEqual(80)) == "score >= 80")
    #expect(format(Memo.path.rating.lessThan(2.5)) == "rating < 2.5")
    #expect(format(Memo.path.rating.lessThanOrEqual(2.5)) == "rating <= 2.5")
    #expect(format(Memo.path.rating.equals(nil)) == "rating == nil")
    #expect(format(Memo.path.group.isNil()) == "memo_group == nil")
    #expect(format(Memo.path.group.isNotNil()) == "memo_group != nil")
    #expect(format(Memo.path.group.shelf.code.equals("A")) == "memo_group.shelf.shelf_code == \"A\"")
    #expect(format(Memo.path.tags.any.name.equals("Swift")) == "ANY labels.tag_name == \"Swift\"")
    #expect(
      format(Memo.path.tags.none.name.equals("Swift"))
        == "SUBQUERY(labels, $e, $e.tag_name == \"Swift\").@count == 0")
    #expect(
      format(Memo.path.tags.none.name.contains("legacy"))
        == "SUBQUERY(labels, $e, $e.tag_name CONTAINS[cd] \"legacy\").@count == 0")
    #expect(
      format(Memo.path.tags.all.score.greaterThan(80))
        == "SUBQUERY(labels, $e, NOT $e.score > 80).@count == 0")
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [
      Memo.path.title.equals("a"), Memo.path.score.lessThan(3),
    ])
    #expect(compound.predicateFormat == "name == \"a\" AND score < 3")
  }

  @Test("A quantified path of one step negates the comparison itself")
  func oneStep() {
    func field(_ quantifier: CDCollectionQuantifier) -> CDFilterField<Memo, Int> {
      CDFilterField(swiftPath: ["score"], quantifier: quantifier)
    }
    #expect(field(.none).equals(1).canonicalFormat == "NOT score == 1")
    #expect(field(.all).equals(1).canonicalFormat == "NOT score != 1")
    #expect(field(.all).greaterThan(1).canonicalFormat == "NOT score <= 1")
    #expect(field(.all).greaterThanOrEqual(1).canonicalFormat == "NOT score < 1")
    #expect(field(.all).lessThan(1).canonicalFormat == "NOT score >= 1")
    #expect(field(.all).lessThanOrEqual(1).canonicalFormat == "NOT score > 1")
    #expect(field(.all).notEquals(1).canonicalFormat == "NOT score == 1")
    #expect(field(.any).equals(1).canonicalFormat == "ANY score == 1")
  }

  @Test("A field knows its stored names from itself, from the table, or is named as it is")
  func fieldNames() {
    #expect(CDFilterField<Memo, String>(swiftPath: ["title"]).persistentPathKey == "name")
    #expect(CDFilterField<Memo, String>(swiftPath: ["other"]).raw == "other")
    #expect(CDFilterField<Memo, String>(swiftPath: ["title"], persistentPath: ["x", "y"]).raw == "x.y")
    #expect(Memo.path.title.filterField.quantifier == nil)
    #expect(Memo.path.tags.all.name.quantifier == .all)
    #expect(CDCollectionQuantifier.none.rawValue == "NONE")
  }

  @Test("A value that no attribute holds is an error of the fetch, and matches nothing")
  func unusableValue() throws {
    struct Odd {}
    let predicate = CDPath<Memo, Odd>(swiftPath: ["title"], persistentPath: ["name"]).equals(Odd())
    #expect(predicate.evaluate(with: nil) == false)
    let context = try Stack(memoTypes).context()
    #expect(throws: ManagedObjectError.self) {
      try context.fetch(FetchDescriptor<Memo>(predicate: predicate))
    }
  }

  @Test("A comparison takes every type of the property's kind")
  func types() {
    func format(_ predicate: NSPredicate) -> String { predicate.canonicalFormat }
    let (short, real, text): (Int16, Double, Substring) = (3, 2.5, "abc".dropFirst())
    func generic<Value>(_ path: CDPath<Memo, Value>, _ value: Value) -> NSPredicate { path.equals(value) }
    func integer<N: BinaryInteger>(_ value: N) -> NSPredicate { Memo.path.score.greaterThan(value) }
    #expect(format(Memo.path.score.equals(short)) == "score == 3")
    #expect(format(Memo.path.score.lessThan(real)) == "score < 2.5")
    #expect(format(Memo.path.score.notEquals(NSNumber(value: 4))) == "score != 4")
    #expect(format(Memo.path.score.greaterThanOrEqual(Decimal(5))) == "score >= 5")
    #expect(format(Memo.path.rating.lessThanOrEqual(1)) == "rating <= 1")
    #expect(format(Memo.path.rating.equals(Double?.none)) == "rating == nil")
    #expect(format(Memo.path.title.equals(text)) == "name == \"bc\"")
    #expect(format(Memo.path.title.greaterThan("a")) == "name > \"a\"")
    #expect(format(Memo.path.title.notEquals(String?.none)) == "name != nil")
    #expect(format(generic(Memo.path.title, "x")) == "name == \"x\"")
    #expect(format(integer(UInt8(7))) == "score > 7")
    let level = CDPath<Memo, Level>(swiftPath: ["score"], persistentPath: ["score"], storageMethod: .raw)
    #expect(format(level.equals(.high)) == "score == 2")
    #expect(format(level.lessThan(.high)) == "score < 2")
    #expect(format(level.greaterThan(1)) == "score > 1")
    #expect(format(generic(level, .high)) == "score == 2")
    let maybe = CDPath<Memo, Level?>(swiftPath: ["score"], persistentPath: ["score"], storageMethod: .raw)
    #expect(format(maybe.equals(.high)) == "score == 2")
    #expect(format(maybe.equals(nil)) == "score == nil")
    #expect(format(maybe.notEquals(2)) == "score != 2")
  }

  @Test("An enumeration is compared with a path of raw storage alone")
  func rawStorage() async {
    let raw = CDPath<Memo, Int>(swiftPath: ["score"], persistentPath: ["score"], storageMethod: .raw)
    #expect(raw.equals(Level.high).canonicalFormat == "score == 2")
    #expect(raw.notEquals(Level.high).canonicalFormat == "score != 2")
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Memo.path.score.equals(Level.high)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Memo.score is not stored by raw value"), "\(output)")
  }

  enum Level: Int { case low = 1, high }

  @Test("Sort descriptors take the persistent key and the direction")
  func sorting() throws {
    let byName = try NSSortDescriptor(Memo.self, path: Memo.path.title, order: .desc)
    #expect(byName.key == "name" && !byName.ascending)
    let byGroup = try NSSortDescriptor(Memo.self, path: Memo.path.group.name, order: .asc)
    #expect(byGroup.key == "memo_group.group_name" && byGroup.ascending)
    #expect(NSSortDescriptor(Memo.self, key: .title, ascending: true).key == "name")
  }

  @Test("What can't be sorted by says so when the descriptor is made")
  func sortErrors() throws {
    #expect(throws: CDSortDescriptorError.pathNotRegistered("group.shelf.code")) {
      try NSSortDescriptor(Memo.self, path: Memo.path.group.shelf.code, order: .asc)
    }
    #expect(throws: CDSortDescriptorError.pathMismatch(expected: "name", got: "title")) {
      let path = CDPath<Memo, String>(swiftPath: ["title"], persistentPath: ["title"])
      return try NSSortDescriptor(Memo.self, path: path, order: .asc)
    }
    #expect(throws: CDSortDescriptorError.toManyRelationshipNotSupportedForSort("tags.name")) {
      let path = CDPath<Memo, String>(swiftPath: ["tags", "name"], persistentPath: ["labels", "tag_name"])
      return try NSSortDescriptor(Memo.self, path: path, order: .asc, mode: .inMemory)
    }
    #expect(throws: CDSortDescriptorError.collationRequiresInMemory(.localized)) {
      try NSSortDescriptor(Memo.self, path: Memo.path.title, order: .asc, collation: .localized)
    }
    #expect(throws: CDSortDescriptorError.pathNotStoreSortable("draft", storageMethod: .default)) {
      try NSSortDescriptor(Memo.self, path: Memo.path.draft, order: .asc)
    }
  }

  @Test("A collation sorts in memory, by the rules of the language")
  func collation() throws {
    let context = try Stack(memoTypes).context()
    let memos = ["b10", "a", "b9", "B8"].map { title in
      let memo = Memo(context: context)
      memo.title = title
      return memo
    }
    let order = try NSSortDescriptor(
      Memo.self, path: Memo.path.title, order: .asc, collation: .localizedStandard, mode: .inMemory)
    #expect(order.key == "name")
    let sorted = memos.sorted { order.compare($0, to: $1) == .orderedAscending }
    #expect(sorted.map(\.title) == ["a", "B8", "b9", "b10"])
  }

  @Test("Types that are no managed objects may have paths made by hand")
  func byHand() throws {
    #expect(HandMade.path.label.equals("x").canonicalFormat == "stored_label == \"x\"")
    #expect(HandMade.__cdPersistentPath(forSwiftPath: "label") == "stored_label")
    #expect(HandMade.__cdRelationshipProjectionTable == HandMade.__cdFieldTable)
    #expect(try NSSortDescriptor(HandMade.self, path: HandMade.path.label, order: .asc).key == "stored_label")
  }
}

/// Conforms by hand, as code without macros does.
private final class HandMade: CoreDataPathDSLProviding {
  struct PathRoot: Sendable {
    let label = CDPath<HandMade, String>(swiftPath: ["label"], persistentPath: ["stored_label"])
  }
  static var path: PathRoot { PathRoot() }
  static let __cdFieldTable = [
    "label": CDFieldMeta(
      kind: .attribute, swiftPath: ["label"], persistentPath: ["stored_label"], storageMethod: .default,
      supportsStoreSort: true)
  ]
}

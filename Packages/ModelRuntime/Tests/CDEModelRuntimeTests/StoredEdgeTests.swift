import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("What other writers leave in the file", .onSQLite)
struct StoredEdgeTests {
  private func stack() throws -> Stack {
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    return stack
  }

  private func first(_ context: NSManagedObjectContext) throws -> Specimen {
    let specimens = try context.fetch(Specimen.fetchRequest())
    return try #require(
      specimens.min { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path })
  }

  @Test("A required property of a stored NULL reads as its default, else as its type's zero, and is left so")
  func nulls() throws {
    let stack = try stack()
    let columns = [
      "SMALL", "SMALLORSEVEN", "MEDIUM", "LARGE", "WHOLE", "REAL", "REALORHALF", "SHORT", "FLAG", "TEXT",
      "TEXTORT",
      "DATE", "DATA", "UUID", "LINK", "PRICE", "STATUS", "STATUSORDRAFT", "PRIORITY",
    ]
    try stack.sql("UPDATE ZSPECIMEN SET " + columns.map { "Z\($0) = NULL" }.joined(separator: ", "))
    let context = stack.context()
    let specimen = try first(context)
    #expect(specimen.small == 0 && specimen.smallOrSeven == 7 && specimen.medium == 0 && specimen.large == 0)
    #expect(specimen.whole == 3 && specimen.real == 0 && specimen.realOrHalf == 0.5 && specimen.short == 0)
    #expect(!specimen.flag && specimen.text == "" && specimen.textOrT == "t" && specimen.data == Data())
    #expect(specimen.date == Date(timeIntervalSinceReferenceDate: 0) && specimen.price == 0)
    #expect(specimen.statusOrDraft == .draft && specimen.status == .draft && specimen.priority == .low)
    _ = (specimen.uuid, specimen.link)
    let snapshot = try specimen.snapshot()
    #expect(snapshot.smallOrSeven == 7 && snapshot.text == "" && snapshot.status == .draft)
    let others = try context.fetch(Specimen.fetchRequest())
    let other = try #require(others.last)
    #expect(other.textOrT == "t")
    other.text = "now"
    try context.save()
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE ZTEXTORT IS NULL") == [["6"]])
  }

  @Test(
    "A decimal that is no number, as Core Data stores it, reads as what it is, and stays so",
    arguments: ["NaN", "nan"])
  func notANumber(text: String) throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSPECIMEN SET ZPRICE = '\(text)', ZPRICEORNIL = '\(text)'")
    let context = stack.context()
    let specimen = try first(context)
    #expect(specimen.price.isNaN && specimen.priceOrNil?.isNaN == true)
    #expect(specimen.value(forKey: "price") as? NSDecimalNumber == .notANumber)
    let request = NSFetchRequest<NSDictionary>(entityName: "Specimen")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["price"]
    let row = try #require(try context.fetch(request).first)
    #expect(row["price"] as? NSDecimalNumber == .notANumber)
    specimen.text = "changed"
    try context.save()
    #expect(
      try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE ZPRICE = '\(text)' AND ZTEXT = 'changed'") == [
        ["1"]
      ])
  }

  @Test("A raw value of no case, where nothing is declared for that, reads as a case and is not saved")
  func rawValues() throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSPECIMEN SET ZSTATUS = 'unheard of', ZPRIORITY = 77")
    let context = stack.context()
    let specimen = try first(context)
    #expect(specimen.status == .draft && specimen.priority == .low)
    specimen.text = "changed"
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.code == .unreadValue)
    #expect(error?.message.contains("holds unheard of, which is no raw value of Status") == true)
    context.refresh(specimen, mergeChanges: true)
    (specimen.status, specimen.priority) = (.review, .high)
    try context.save()
  }

  @Test("Numbers beyond a property's type, and bytes that are none of its values, read as nothing")
  func strangers() throws {
    let stack = try stack()
    try stack.sql(
      "UPDATE ZSPECIMEN SET ZSMALLORNIL = 70000, ZSMALLORSEVEN = 70000, ZMEDIUMORNIL = 9223372036854775807, "
        + "ZPRICEORNIL = -9e999, ZUUIDORNIL = x'0102', ZLINKORNIL = ''")
    let specimen = try first(stack.context())
    #expect(specimen.smallOrNil == nil && specimen.smallOrSeven == 7 && specimen.mediumOrNil == nil)
    #expect(specimen.priceOrNil == nil && specimen.uuidOrNil == nil && specimen.linkOrNil == nil)
  }

  @Test(
    "Text and bytes in a column of numbers read as nothing, not as zero, and stay when others are written")
  func textInNumbers() throws {
    let stack = try stack()
    try stack.sql(
      "UPDATE ZSPECIMEN SET ZSMALLORNIL = '12 pieces', ZSMALLORSEVEN = 'many', ZWHOLEORNIL = 1e30, ZFLAGORNIL = 'YES', "
        + "ZREALORNIL = x'31', ZSHORTORNIL = '2.5', ZDATEORNIL = '2020-01-01 00:00:00', ZLARGE = 7.9")
    let context = stack.context()
    let specimen = try first(context)
    #expect(specimen.smallOrNil == nil && specimen.smallOrSeven == 7 && specimen.wholeOrNil == nil)
    #expect(specimen.flagOrNil == nil && specimen.realOrNil == nil && specimen.dateOrNil == nil)
    // A text that is a number counts as one, and an integer has no fraction.
    #expect(specimen.shortOrNil == 2.5 && specimen.large == 7)
    specimen.text = "changed"
    try context.save()
    #expect(
      try stack.sql("SELECT DISTINCT ZFLAGORNIL, ZDATEORNIL FROM ZSPECIMEN") == [
        ["YES", "2020-01-01 00:00:00"]
      ])
  }

  @Test("The greatest version that there is takes another save, and another batch", arguments: [true, false])
  func versions(isBatch: Bool) throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSPECIMEN SET Z_OPT = 9223372036854775807")
    let context = stack.context()
    let specimen = try first(context)
    if isBatch {
      let update = NSBatchUpdateRequest(entityName: "Specimen")
      update.propertiesToUpdate = ["text": "by a batch"]
      try context.execute(update)
      // What was read before the batch is behind.
      specimen.text = "late"
      #expect(throws: ManagedObjectError.self) { try context.save() }
      context.refresh(specimen, mergeChanges: false)
    }
    for text in ["one", "two", "three"] {
      specimen.text = text
      try context.save()
    }
    context.delete(specimen)
    try context.save()
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE typeof(Z_OPT) <> 'integer'") == [["0"]])
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN") == [["5"]])
  }

  @Test("Places in an order at the greatest integer leave room for more members")
  func places() throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSPECIMEN SET Z_FOK_SHELF = 9223372036854775807")
    let context = stack.context()
    let keeper = try #require(try context.fetch(Curator.fetchRequest()).first)
    let before = keeper.ordered
    #expect(before.count == 3)
    let more = Specimen(context: context)
    ValueModel.fill(more, 9)
    keeper.setValue(NSOrderedSet(array: [more] + before.reversed()), forKey: "ordered")
    try context.save()
    context.refreshAllObjects()
    #expect(keeper.ordered == [more] + before.reversed())
  }

  @Test(
    "A reference below 1 refers to nothing, whatever new objects there are",
    arguments: [0, -1, -7, Int64.min])
  func references(key: Int64) throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSPECIMEN SET ZKEEPER = \(key), ZSHELF = \(key)")
    let context = stack.context()
    let keepers = (0..<8).map { _ in Curator(context: context) }
    for (index, keeper) in keepers.enumerated() { keeper.name = "new \(index)" }
    let specimen = try first(context)
    #expect(specimen.keeper == nil && specimen.shelf == nil)
    specimen.text = "changed"
    try context.save()
    #expect(specimen.keeper == nil && keepers.allSatisfy(\.specimens.isEmpty))
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE ZKEEPER > 0") == [["0"]])
  }

  @Test("A row with a key below 1 is a typed error that says what to do", arguments: [0, -4, Int64.min])
  func keys(key: Int64) throws {
    let stack = try stack()
    try stack.sql("UPDATE ZSTICKER SET Z_PK = \(key) WHERE Z_PK = 2")
    let context = stack.context()
    let error = #expect(throws: ManagedObjectError.self) { try context.fetch(Sticker.fetchRequest()) }
    #expect(error?.message.contains("A row of Sticker has the key \(key)") == true)
    _ = try context.fetch(Specimen.fetchRequest())
  }

  @Test("A reference to a tree that does not name its row's entity finds it by the row")
  func entities() throws {
    let stack = try stack()
    let names = try stack.sql("PRAGMA table_info(ZNODE)").map { $0[1] }
    for name in names where name.hasSuffix("_PARENT") || name.hasSuffix("_PLACE") {
      try stack.sql("UPDATE ZNODE SET \(name) = 99")
    }
    let context = stack.context()
    for node in try context.all("Node") where node.one("parent") != nil {
      #expect(node.one("parent")?.entity.name == "Branch")
    }
  }

  @Test("A key counter at its end is a typed error; one that is no number is taken from the rows")
  func counters() throws {
    let stack = try stack()
    try stack.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Cart'")
    try stack.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 'many' WHERE Z_NAME = 'Sticker'")
    let context = stack.context()
    Cart(context: context).seats = 1
    let error = #expect(throws: ManagedObjectError.self) { try context.save() }
    #expect(error?.message.contains("Cart has used all primary keys") == true)
    context.rollback()
    _ = Sticker(context: context)
    try context.save()
    #expect(try context.count(for: Sticker.fetchRequest()) == 4)
  }
}

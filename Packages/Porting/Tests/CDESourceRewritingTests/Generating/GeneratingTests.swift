@_spi(CDE) import CDESQLiteFaults
import CDEManagedModel
import CDEModelClasses
import CDEModelRuntime
import CDESourceTool
import CDESwiftData
import Foundation
import Testing

@testable import coredata_sources

@Suite("Generating classes with @Model")
struct GeneratingTests {
  /// A store that the original classes made, with some rows.
  private func makeStore() throws -> URL {
    let url = ProcessFolder.newURL("library").appendingPathExtension("store")
    let container = try ModelContainer(
      for: OriginalLibrary.schema, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    let ann = OriginalLibrary.Reader(card: "a1", joined: Date(timeIntervalSinceReferenceDate: 5))
    ann.address = OriginalLibrary.Reader.Address(street: "Main", city: "Oslo")
    ann.level = .gold
    ann.mood = .wild
    ann.tags = ["quiet", "early"]
    ann.fee = 12
    let bob = OriginalLibrary.Reader(card: "b2", joined: .distantPast)
    let atlas = OriginalLibrary.Atlas(title: "Alps", scale: 100)
    let loan = OriginalLibrary.Loan(due: .distantFuture)
    loan.volume = atlas
    ann.loans = [loan]
    let shelf = OriginalLibrary.Shelf(room: "north")
    shelf.volumes = [atlas]
    for model in [ann, bob] { context.insert(model) }
    context.insert(shelf)
    try context.save()
    return url
  }

  @Test("The classes of a store are those of a file that compiles")
  func text() throws {
    let (text, remarks) = try GenerateCommand(source: makeStore()).classes()
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("GeneratedLibrary.swift")
    // The file is formatted as all sources are.
    func words(_ text: String) -> String {
      text.replacingOccurrences(of: "[String]", with: "Array<String>").filter { !$0.isWhitespace }
    }
    #expect(words(text) == words(try String(contentsOf: file, encoding: .utf8)), "\(text)")
    #expect(remarks.count == 1 && remarks[0].hasPrefix("Reader.level is an enumeration"))
  }

  @Test(
    "A container over the generated classes opens the store in place, and both programs read and write it")
  func opening() throws {
    let url = try makeStore()
    let before = try NSManagedObjectModel(cachedInStoreAt: url).entityVersionHashesByName
    let container = try ModelContainer(
      for: Reader.self, Loan.self, Volume.self, Atlas.self, Shelf.self,
      configurations: ModelConfiguration(url: url))
    #expect(try NSManagedObjectModel(cachedInStoreAt: url).entityVersionHashesByName == before)
    let context = ModelContext(container)
    let ann = try #require(
      try context.fetch(FetchDescriptor<Reader>(predicate: #Predicate { $0.card == "a1" })).first)
    #expect(ann.level == .gold && ann.mood == .wild && ann.tags == ["quiet", "early"] && ann.fee == 12)
    #expect(ann.address?.city == "Oslo" && ann.address?.zip == nil && ann.visits == 3 && ann.isActive)
    let atlas = try #require(ann.loans.first?.volume as? Atlas)
    #expect(atlas.scale == 100 && atlas.shelves?.map(\.room) == ["north"])
    ann.level = .basic
    context.insert(
      Reader(card: "c3", joined: .now, level: .gold, tags: ["new"]))
    try context.save()

    let original = try ModelContainer(
      for: OriginalLibrary.schema, configurations: ModelConfiguration(url: url))
    let readers = try ModelContext(original).fetch(
      FetchDescriptor<OriginalLibrary.Reader>(sortBy: [SortDescriptor(\.card)]))
    #expect(readers.map(\.card) == ["a1", "b2", "c3"])
    #expect(readers.map(\.level) == [.basic, .basic, .gold] && readers[2].tags == ["new"])
  }

  @Test("What SwiftData can't express is a comment at its place and a remark")
  func remarks() throws {
    let note = NSEntityDescription()
    note.name = "Note"
    let page = NSEntityDescription()
    page.name = "Page"
    let derived = NSDerivedAttributeDescription()
    derived.name = "shout"
    derived.attributeType = .stringAttributeType
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    text.defaultValue = "a \"b\"\n\\"
    let small = NSAttributeDescription()
    small.name = "class"
    small.attributeType = .integer16AttributeType
    small.isOptional = false
    let pages = NSRelationshipDescription()
    pages.name = "pages"
    pages.destinationEntity = page
    pages.maxCount = 0
    pages.isOrdered = true
    note.properties = [derived, text, small, pages]
    let model = NSManagedObjectModel()
    model.entities = [note, page]
    var generator = SwiftDataGenerator(model)
    let source = try generator.source()
    #expect(source.contains("  // Note.shout is derived, and SwiftData derives nothing."))
    #expect(source.contains("  // Note.pages is ordered"))
    #expect(source.contains(#"  var text: String? = "a \"b\"\u{a}\\""#))
    #expect(source.contains("  var `class`: Int16\n"))
    #expect(generator.remarks.count == 3)
    note.name = "Two words"
    var wrong = SwiftDataGenerator(model)
    #expect(throws: ModelClassError.self) { try wrong.source() }
    #expect(throws: Problem.self) {
      try GenerateCommand(source: URL(fileURLWithPath: "/nowhere/model.store")).classes()
    }
  }
}

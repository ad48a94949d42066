@_spi(CDE) import CDESQLiteFaults
import CDEModelFiles
import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

@Suite("History and migration")
struct HistoryTests {
  @Test("Transactions are listed with their authors and changes, and old ones are removed")
  func history() throws {
    let library = try Library()
    defer { library.remove() }
    try Library.write(at: library.url) { context in
      context.transactionAuthor = "importer"
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "title == 'Volume 2'")
      let book = try #require(try context.fetch(request).first)
      book.setValue(1, forKey: "pages")
      _ = Library.insert("Tag", ["name": "second"], context)
    }
    let before = try library.contents()
    let history = StoreHistory(library.place)
    let list = text(try history.list(), .csv).split(separator: "\r\n").map(String.init)
    #expect(list.count == 3)
    #expect(list[1].hasSuffix(",15,0,0"))
    #expect(list[2].contains(",importer,") && list[2].hasSuffix(",1,1,0"))
    #expect(text(try history.list(author: "absent"), .csv).split(separator: "\r\n").count == 1)
    let changes = text(try history.show(2), .csv)
    #expect(changes.contains("updated,Book/p2,pages,") && changes.contains("inserted,Tag/p2,"))
    #expect(throws: ToolError.self) { try history.show(99) }
    #expect(try library.contents() == before)
    #expect(throws: ToolError.self) { try history.purge(before: "yesterday") }
    #expect(text(try history.purge(before: "2001-01-01")).contains("0 transactions were removed, 2 are left"))
    #expect(text(try history.purge(before: "9999-01-01")).contains("2 transactions were removed, 0 are left"))
  }

  @Test("A plan changes nothing; a migration keeps a copy; a second one has nothing to do")
  func migration() throws {
    let library = try Library()
    defer { library.remove() }
    let model = Library.model()
    let book = try #require(model.entitiesByName["Book"])
    book.properties =
      book.properties.filter { $0.name != "weight" } + [Library.attribute("subtitle", .stringAttributeType)]
    let mom = ProcessFolder.newURL("new").appendingPathExtension("mom")
    try ModelCompiler.data(of: model).write(to: mom)
    var migration = Migration(library.url, to: try LoadedModel(mom.path))
    migration.isPlan = true
    let before = try library.contents()
    #expect(text(try migration.answer()).contains("Book.weight: is removed"))
    #expect(try library.contents() == before)
    migration.isPlan = false
    #expect(text(try migration.answer()).contains("Migrated."))
    let rows = text(try RowListing(entity: "Book").answer(OpenedStore(library.place)), .csv)
    #expect(rows.contains("subtitle") && !rows.contains("weight"))
    let copies = try FileManager.default.contentsOfDirectory(atPath: library.folder.path).filter {
      $0.hasSuffix(".backup")
    }
    #expect(copies.count == 1)
    let copy = library.folder.appendingPathComponent(copies[0]).appendingPathComponent("Library.sqlite")
    #expect(text(try RowListing(entity: "Book").answer(OpenedStore(.file(copy))), .csv).contains("weight"))
    #expect(text(try migration.answer()).contains("already"))
  }
}

import CoreDataEvolution
import Foundation
import Testing

@testable import CDEToolKit

#if PostgreSQL
  @Suite(
    "Explaining over a server", .enabled(if: ServerLibrary.isThere))
  struct ServerExplainTests {
    @Test(
      "The server's plan is printed, an index is suggested, and with it in the model the suggestion is gone")
    func plan() throws {
      let url = try ServerLibrary.url()
      for isIndexed in [false, true] {
        let schema = "explain_\(UUID().uuidString.prefix(8).lowercased())"
        let model = Library.model()
        let book = try #require(model.entitiesByName["Book"])
        if isIndexed {
          let title = try #require(book.propertiesByName["title"])
          book.indexes = [
            NSFetchIndexDescription(
              name: "byTitle",
              elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
          ]
        }
        let container = try ServerLibrary.container(schema: schema, model: model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
          for number in 0..<5_000 {
            let object = NSManagedObject(entity: book, insertInto: context)
            object.setValue("Volume \(number)", forKey: "title")
          }
          try context.save()
        }
        var explanation = Explanation(entity: "Book")
        explanation.predicate = "title == 'Volume 3'"
        explanation.schema = schema
        let answer = try JSONValue(
          reading: Data(text(try explanation.answer(.server(url)), .json).utf8))
        #expect(answer["objects"] == .int(1))
        let shown = text(try explanation.answer(.server(url)))
        if isIndexed {
          #expect(answer["suggestedIndex"] == .null && shown.contains("Index"), "\(shown)")
        } else {
          #expect(shown.contains("scan   Seq Scan") && shown.contains("property=\"title\""), "\(shown)")
        }
      }
    }
  }
#endif

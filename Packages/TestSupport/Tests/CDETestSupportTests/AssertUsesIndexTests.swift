import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import CDETestSupport
import CDETesting
import CDEXCTest
import Foundation
import Testing

@Suite("Tests of fetches by their plans")
struct AssertUsesIndexTests {
  @Test("A key leads to the row")
  func searching() throws {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let note = Note(context: context)
      try context.save()
      let request = NSFetchRequest<Note>(entityName: "Note")
      request.predicate = NSPredicate(format: "self == %@", note)
      try assertUsesIndex(request, in: context)
    }
  }

  @Test("A table that is read whole is an issue with the statement and its plan")
  func scanning() throws {
    let container = try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self, Label.self)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<Note>(entityName: "Note")
      request.predicate = NSPredicate(format: "title == %@", "Linux")
      try withKnownIssue {
        try assertUsesIndex(request, in: context)
      } matching: { issue in
        let text = issue.comments.map(\.rawValue).joined()
        return text.contains("The fetch of Note uses no index") && text.contains("SELECT")
          && text.contains("(all rows)")
      }
    }
  }
}

import CDEModelRuntime
import CDETestSupport
import Foundation
import Testing

@Suite("Runtime model stacks")
struct CDRuntimeModelStackTests {
  @Test("A stack holds the types, their schemas, the model and a container named after the test")
  @MainActor func contents() throws {
    let stack = try CDRuntimeModelStack(modelTypes: Note.self, Label.self)
    #expect(stack.modelTypes.map { "\($0)" } == ["Note", "Label"])
    #expect(stack.schemas.map(\.entityName) == ["Note", "Label"])
    #expect(stack.model === stack.container.managedObjectModel)
    #expect(stack.container.name == "CDETestSupportTests_CDRuntimeModelStackTests.swift-contents")
    #expect(stack.viewContext === stack.container.viewContext)
    #expect(stack.viewContext.automaticallyMergesChangesFromParent)
  }

  @Test("Automatic merging can be turned off")
  @MainActor func withoutMerging() throws {
    let stack = try CDRuntimeModelStack(
      modelTypes: [Note.self, Label.self], automaticallyMergesChangesFromParent: false)
    #expect(!stack.viewContext.automaticallyMergesChangesFromParent)
  }

  @Test("Background contexts and tasks write to the stack's store")
  func background() async throws {
    let stack = try CDRuntimeModelStack(modelTypes: Note.self, Label.self)
    let context = stack.newBackgroundContext()
    try await context.perform {
      let note = Note(context: context)
      note.title = "first"
      try context.save()
    }
    let saved: Result<Void, any Error> = await withCheckedContinuation { done in
      stack.performBackgroundTask { context in
        done.resume(
          returning: Result {
            Note(context: context).title = "second"
            try context.save()
          })
      }
    }
    try saved.get()
    #expect(try await stack.container.titles() == ["first", "second"])
  }
}

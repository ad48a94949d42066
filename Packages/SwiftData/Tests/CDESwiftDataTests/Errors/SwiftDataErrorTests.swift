import CDEStore
import Testing

@testable import CDESwiftData

@Suite("Errors")
struct SwiftDataErrorTests {
  struct Other: Error {}

  @Test("A static member matches every error of its code, and no other")
  func matching() {
    let error: any Error = SwiftDataError.loadIssueModelContainer.about("The file is gone.", cause: Other())
    #expect(SwiftDataError.loadIssueModelContainer ~= error)
    #expect(!(SwiftDataError.unknownSchema ~= error))
    #expect(!(SwiftDataError.loadIssueModelContainer ~= (Other() as any Error)))
    do { throw error } catch SwiftDataError.unknownSchema {
      Issue.record("another code")
    } catch SwiftDataError.loadIssueModelContainer {
    } catch {
      Issue.record("no match")
    }
  }

  @Test("Errors are equal by code, and say what to do")
  func equality() {
    #expect(SwiftDataError.unknownSchema == SwiftDataError.unknownSchema.about("another text"))
    #expect(SwiftDataError.unknownSchema != SwiftDataError.backwardMigration)
    #expect(Set([SwiftDataError.unknownSchema, .unknownSchema.about("x"), .missingModelContext]).count == 2)
    let error = SwiftDataError.modelValidationFailure.about(
      "A title is empty.", entity: "Note", cause: Other())
    #expect("\(error)" == "SwiftDataError.modelValidationFailure: A title is empty. (cause: Other())")
    #expect((error as any CDEError).message == "A title is empty.")
  }
}

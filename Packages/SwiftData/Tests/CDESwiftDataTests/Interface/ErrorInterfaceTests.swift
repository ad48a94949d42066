import CDESwiftData
import Testing

@Suite("The interface of errors")
struct ErrorInterfaceTests {
  private static let all: [SwiftDataError] = [
    SwiftDataError.includePendingChangesWithBatchSize, SwiftDataError.unsupportedPredicate,
    SwiftDataError.unsupportedKeyPath, SwiftDataError.sortingPendingChangesWithIdentifiers,
    SwiftDataError.unsupportedSortDescriptor, SwiftDataError.duplicateConfiguration,
    SwiftDataError.configurationFileNameTooLong,
    SwiftDataError.configurationFileNameContainsInvalidCharacters,
    SwiftDataError.configurationSchemaNotFoundInContainerSchema, SwiftDataError.loadIssueModelContainer,
    SwiftDataError.modelValidationFailure, SwiftDataError.missingModelContext,
    SwiftDataError.backwardMigration, SwiftDataError.unknownSchema, SwiftDataError.historyTokenExpired,
    SwiftDataError.invalidTransactionFetchRequest,
  ]

  @Test("The errors are SwiftData's, differ from each other, and say what to do")
  func members() {
    isHashable(SwiftDataError.self)
    let _: any Error.Type = SwiftDataError.self
    let _: (SwiftDataError, any Error) -> Bool = (~=)
    #expect(Set(Self.all).count == 16)
    for error in Self.all {
      #expect(error ~= (error as any Error))
      #expect(Self.all.filter { $0 ~= (error as any Error) } == [error])
      #expect(error.message.split(separator: ". ").count > 1, "\(error.message)")
    }
  }

  @Test("A catch names an error, and the error has its cause", .onSQLite)
  func catching() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("no database".utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      _ = try ModelContainer(for: Journey.self, configurations: ModelConfiguration(url: url))
      Issue.record("opened")
    } catch SwiftDataError.unknownSchema {
      Issue.record("another error")
    } catch SwiftDataError.loadIssueModelContainer {
    }
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(for: Journey.self, configurations: ModelConfiguration(url: url))
    }
    #expect(error?.cause != nil)
  }
}

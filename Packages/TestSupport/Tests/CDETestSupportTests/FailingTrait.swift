import Foundation
import Synchronization
import Testing

/// Turns a case that has to fail into one that passes, if it fails as it has to: the first trait of its test.
struct FailingTrait: TestTrait, TestScoping {
  let texts: [String]

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let found = Mutex<[String]>([])
    let catching = IssueHandlingTrait.compactMapIssues { issue in
      // The note where the store was kept says nothing about why.
      if issue.isFailure {
        found.withLock { $0 += issue.comments.map(\.rawValue) + ["\(issue)"] }
      } else {
        removeKept(issue.comments.map(\.rawValue))
      }
      return nil
    }
    do {
      try await catching.provideScope(for: test, testCase: testCase) { try await function() }
    } catch {
      found.withLock { $0.append("\(error.localizedDescription)") }
    }
    let all = found.withLock { $0 }
    #expect(!all.isEmpty, "The case passed.", sourceLocation: test.sourceLocation)
    for text in texts {
      #expect(all.contains { $0.contains(text) }, "\(text) in \(all)", sourceLocation: test.sourceLocation)
    }
  }

  /// Tests that fail on purpose leave nothing behind.
  private func removeKept(_ notes: [String]) {
    for note in notes {
      guard let path = note.split(separator: ": ", maxSplits: 1).last, path.hasSuffix(".sqlite") else {
        continue
      }
      try? FileManager.default.removeItem(atPath: String(path))
      try? FileManager.default.removeItem(atPath: path.dropLast(6) + "sql")
    }
  }
}

extension Trait where Self == FailingTrait {
  /// The case has to fail, with an issue or error for each of the texts.
  static func failing(_ texts: String...) -> Self { FailingTrait(texts: texts) }
}

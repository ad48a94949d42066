import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import CDEXCTest
import Foundation
import XCTest

/// Tests of the XCTest adapter, by XCTest: those that have to fail say so with the framework's own expectation.
final class StoreTestCaseTests: StoreTestCase {
  override func makeModel() throws -> NSManagedObjectModel { try Library.model() }

  override var storeOptions: TestStoreOptions {
    name.contains("InMemory")
      ? TestStoreOptions(place: .inMemory) : TestStoreOptions(queryBudget: 2, singleFaultLimit: 1)
  }

  override func fillStore(_ context: NSManagedObjectContext) throws { Library.fill(context) }

  func testEachTestHasAFilledStoreOfItsOwn() async throws {
    let context = container.newBackgroundContext()
    _ = try await context.perform {
      try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")))
    }
    XCTAssertEqual(activity.queryCount, 1)
  }

  func testAnotherTestSeesNothingOfIt() async throws {
    let count = try await Library.readTogether(container)
    XCTAssertEqual(count, 6)
    XCTAssertEqual(container.persistentStoreCoordinator.persistentStores.map(\.type), [NSSQLiteStoreType])
  }

  func testInMemory() async throws {
    XCTAssertEqual(container.persistentStoreCoordinator.persistentStores.map(\.type), [NSInMemoryStoreType])
    let count = try await Library.readOneByOne(container)
    XCTAssertEqual(count, 6)
  }
}

/// Cases that fail for good, in a process of their own.
final class FailingStoreTestCases: StoreTestCase {
  override func setUpWithError() throws {
    try XCTSkipUnless(OwnProcess.isRunning, "runs in a process of its own")
    try super.setUpWithError()
  }

  override func makeModel() throws -> NSManagedObjectModel {
    name.contains("WithoutModel") ? try super.makeModel() : try Library.model()
  }

  override var storeOptions: TestStoreOptions { TestStoreOptions(queryBudget: 3, singleFaultLimit: 1) }

  override func fillStore(_ context: NSManagedObjectContext) throws { Library.fill(context) }

  func testBudget() async throws { _ = try await Library.readOneByOne(container) }

  func testAssertion() { XCTFail("an assertion of the test") }

  func testWithoutModel() {}

  func testPassing() async throws { _ = try await Library.readTogether(container) }
}

final class FailingStoreTestCasesTests: XCTestCase {
  func testFailuresOfAssertionsAndRulesKeepTheStore() async throws {
    let folder = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (status, output) = try await OwnProcess.run(
      ["--testing-library", "xctest", "CDETestSupportTests.FailingStoreTestCases"], temporary: folder)
    XCTAssertNotEqual(status, 0, output)
    for text in [
      "an assertion of the test", "The store was asked 4 times, and the budget is 3.",
      "Shelf.books was loaded 3 times", "Override makeModel()", "was kept for inspection",
    ] {
      XCTAssertTrue(output.contains(text), "\(text) in \(output)")
    }
    let kept = try OwnProcess.kept(in: folder, "FailingStoreTestCases")
    XCTAssertEqual(
      kept,
      ["testAssertion.sql", "testAssertion.sqlite", "testBudget.sql", "testBudget.sqlite"]
        .map { "FailingStoreTestCases.\($0)" })
    let log = folder.appendingPathComponent("CoreDataEvolutionTestTemp/FailingStoreTestCases.testBudget.sql")
    XCTAssertTrue(try String(contentsOf: log, encoding: .utf8).contains("4 requests"))
  }
}

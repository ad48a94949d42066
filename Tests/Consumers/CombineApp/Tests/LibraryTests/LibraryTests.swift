import Combine
import CoreData
import XCTest

@testable import Library

final class LibraryTests: XCTestCase {
  private var container: NSPersistentContainer!
  private var cancellables: Set<AnyCancellable> = []
  private var context: NSManagedObjectContext { container.viewContext }

  override func setUpWithError() throws {
    let url = try XCTUnwrap(Bundle(for: Book.self).url(forResource: "Library", withExtension: "momd"))
    let model = try XCTUnwrap(NSManagedObjectModel(contentsOf: url))
    container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: "/dev/null")
    container.loadPersistentStores { _, error in XCTAssertNil(error) }
  }

  override func tearDown() {
    cancellables = []
    container = nil
  }

  @discardableResult
  private func insert(_ title: String, by name: String? = nil) -> Book {
    let book = Book(context: context)
    book.title = title
    if let name {
      book.author = Author(context: context)
      book.author?.name = name
    }
    return book
  }

  func testPropertiesPublish() {
    let book = insert("One")
    var titles: [String] = []
    var pages: [Int32] = []
    book.publisher(for: \.title).sink { titles.append($0) }.store(in: &cancellables)
    let observing = book.publisher(for: \.pages, options: [.new]).sink { pages.append($0) }
    book.title = "Two"
    book.setValue("Three", forKey: "title")
    book.pages = 7
    observing.cancel()
    book.pages = 8
    XCTAssertEqual(titles, ["One", "Two", "Three"])
    XCTAssertEqual(pages, [7])
  }

  func testPathsAndComputedVariablesPublish() {
    let book = insert("Emma", by: "Austen")
    var names: [String?] = []
    var summaries: [String] = []
    book.publisher(for: \.author?.name).sink { names.append($0) }.store(in: &cancellables)
    book.publisher(for: \.summary).removeDuplicates().sink { summaries.append($0) }.store(in: &cancellables)
    book.author?.name = "Jane Austen"
    book.author = nil
    XCTAssertEqual(names, ["Austen", "Jane Austen", nil])
    XCTAssertEqual(summaries, ["Emma by Austen", "Emma by Jane Austen", "Emma"])
  }

  func testSavesPublish() throws {
    var counts: [Int] = []
    context.insertions.sink { counts.append($0) }.store(in: &cancellables)
    insert("One")
    insert("Two")
    try context.save()
    XCTAssertEqual(counts, [2])
  }

  func testWorkIsDoneForSubscribers() {
    let done = expectation(description: "done")
    ["A", "B"].publisher
      .setFailureType(to: Error.self)
      .flatMap(maxPublishers: .max(1)) { [context] title in
        context.work { context -> Int in
          Book(context: context).title = title
          try context.save()
          return try context.count(for: Book.fetchRequest())
        }
      }
      .collect()
      .sink(
        receiveCompletion: { _ in done.fulfill() },
        receiveValue: { XCTAssertEqual($0, [1, 2]) }
      )
      .store(in: &cancellables)
    wait(for: [done], timeout: 10)
  }

  func testResultsPublish() throws {
    let request = Book.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: false)]
    var lists: [[String]] = []
    Results(request, in: context)
      .map { $0.map(\.title) }
      .sink(receiveCompletion: { _ in XCTFail("completes") }, receiveValue: { lists.append($0) })
      .store(in: &cancellables)
    insert("A")
    insert("B")
    try context.save()
    XCTAssertEqual(lists, [[], ["B", "A"]])
  }

  func testListFollowsItsFilters() throws {
    let list = BookList(context: context)
    var published: [[String]] = []
    list.$titles.dropFirst().sink { published.append($0) }.store(in: &cancellables)
    insert("Emma").isFavorite = true
    insert("Walden")
    try context.save()
    list.onlyFavorites = true
    list.text = "zz"
    XCTAssertEqual(published, [["Emma", "Walden"], ["Emma"], []])
  }

  func testPublishersAreJoined() {
    let a = PassthroughSubject<Int, Never>()
    let b = PassthroughSubject<Int, Never>()
    let c = CurrentValueSubject<String, Never>("x")
    var sums: [Int] = []
    var merged: [Int] = []
    var triples: [String] = []
    var isFinished = false
    a.combineLatest(b) { $0 + $1 }.sink(
      receiveCompletion: { _ in isFinished = true }, receiveValue: { sums.append($0) }
    )
    .store(in: &cancellables)
    a.merge(with: b.map { $0 * 10 }).sink { merged.append($0) }.store(in: &cancellables)
    a.combineLatest(b, c).map { "\($0)\($1)\($2)" }.sink { triples.append($0) }.store(in: &cancellables)
    a.send(1)
    b.send(2)
    a.send(3)
    c.send("y")
    a.send(completion: .finished)
    XCTAssertFalse(isFinished)
    b.send(4)
    b.send(completion: .finished)
    XCTAssertTrue(isFinished)
    XCTAssertEqual(sums, [3, 5, 7])
    XCTAssertEqual(merged, [1, 20, 3, 40])
    XCTAssertEqual(triples, ["12x", "32x", "32y", "34y"])
  }

  func testAJoinedPublisherFailsWithTheFirstOne() {
    let a = PassthroughSubject<Int, CocoaError>()
    let b = PassthroughSubject<Int, CocoaError>()
    var failed = 0
    var values: [Int] = []
    a.merge(with: b).sink(
      receiveCompletion: { if case .failure = $0 { failed += 1 } }, receiveValue: { values.append($0) }
    )
    .store(in: &cancellables)
    a.send(1)
    a.send(completion: .failure(CocoaError(.fileNoSuchFile)))
    b.send(2)
    XCTAssertEqual(failed, 1)
    XCTAssertEqual(values, [1])
  }
}

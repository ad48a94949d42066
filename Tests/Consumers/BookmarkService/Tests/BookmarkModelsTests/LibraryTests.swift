import BookmarkModels
import CDESwiftData
import CDETesting
import Testing

@Suite("The library of bookmarks", .store(Bookmark.self, Label.self))
struct LibraryTests {
  let library = Library(modelContainer: TestStore.current.modelContainer)

  @Test("A bookmark that is added twice is updated")
  func adding() async throws {
    try await library.add([BookmarkValue(address: "https://a.example", title: "A", labels: ["x", "y"])])
    try await library.add([BookmarkValue(address: "https://a.example", title: "B", labels: ["y"])])
    #expect(try await library.count() == 1)
    #expect(
      try await library.search("b") == [
        BookmarkValue(address: "https://a.example", title: "B", labels: ["y"])
      ])
  }

  @Test("A removed bookmark takes its own labels along")
  func removing() async throws {
    try await library.add([
      BookmarkValue(address: "https://a.example", title: "A", labels: ["mine", "both"]),
      BookmarkValue(address: "https://b.example", title: "B", labels: ["both"]),
    ])
    #expect(try await library.remove("https://a.example"))
    #expect(try await library.labels() == ["both"])
    #expect(try await !library.remove("https://a.example"))
  }

  @Test("An import of a thousand bookmarks is one save", .queryBudget(1_020))
  func importing() async throws {
    try await library.add(
      (0..<1_000).map { BookmarkValue(address: "https://\($0).example", title: "\($0)", labels: ["all"]) })
    #expect(try await library.count() == 1_000)
    #expect(TestStore.current.activity.requests.count { $0.kind == .save } == 1)
  }
}

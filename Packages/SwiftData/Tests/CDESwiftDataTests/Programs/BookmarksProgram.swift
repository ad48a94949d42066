import CDESwiftData
import Testing

@Model
public final class WebBookmark {
  @Attribute(.unique) public var url: URL
  public var title: String
  public var addedOn: Date
  public private(set) var visits: Int = 0
  @Relationship(inverse: \BookmarkTag.bookmarks) public var tags: [BookmarkTag]

  public init(url: URL, title: String, addedOn: Date = .now, tags: [BookmarkTag] = []) {
    self.url = url
    self.title = title
    self.addedOn = addedOn
    self.tags = tags
  }

  public func visit() { visits += 1 }
}

@Model
public final class BookmarkTag {
  @Attribute(.unique) public var name: String
  public var bookmarks: [WebBookmark] = []

  public init(name: String) { self.name = name }
}

@Suite("Bookmarks with tags")
struct BookmarksProgram {
  let context: ModelContext

  init() throws {
    let schema = Schema([WebBookmark.self, BookmarkTag.self])
    let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    context = ModelContext(try ModelContainer(for: schema, configurations: [configuration]))
  }

  @Test("A tag has the bookmarks that have it")
  func manyToMany() throws {
    let swift = BookmarkTag(name: "swift")
    let server = BookmarkTag(name: "server")
    let vapor = WebBookmark(url: URL(string: "https://vapor.codes")!, title: "Vapor", tags: [swift, server])
    let forums = WebBookmark(url: URL(string: "https://forums.swift.org")!, title: "Forums")
    context.insert(vapor)
    context.insert(forums)
    forums.tags.append(swift)
    try context.save()
    #expect(Set(swift.bookmarks.map(\.title)) == ["Vapor", "Forums"])
    #expect(server.bookmarks.count == 1)

    let wanted = "swift"
    let found = try context.fetch(
      FetchDescriptor<WebBookmark>(
        predicate: #Predicate { $0.tags.contains { $0.name == wanted } }, sortBy: [SortDescriptor(\.title)]))
    #expect(found.map(\.title) == ["Forums", "Vapor"])
    context.delete(swift)
    try context.save()
    #expect(vapor.tags.map(\.name) == ["server"])
    #expect(forums.tags.isEmpty)
  }

  @Test("A second bookmark with the same address replaces the values of the first")
  func upsert() throws {
    let url = URL(string: "https://swift.org")!
    context.insert(WebBookmark(url: url, title: "Old"))
    try context.save()
    context.insert(WebBookmark(url: url, title: "New"))
    try context.save()
    let all = try context.fetch(FetchDescriptor<WebBookmark>())
    #expect(all.map(\.title) == ["New"])
  }

  @Test("Visits are counted and stored")
  func visits() throws {
    let bookmark = WebBookmark(url: URL(string: "https://example.com")!, title: "Example")
    context.insert(bookmark)
    for _ in 0..<3 { bookmark.visit() }
    try context.save()
    let other = ModelContext(context.container)
    #expect(try other.fetch(FetchDescriptor<WebBookmark>()).first?.visits == 3)
  }

  @Test("Bookmarks with any of several tags, and those without a tag")
  func sets() throws {
    let names = ["a", "b", "c"]
    for name in names {
      context.insert(
        WebBookmark(url: URL(string: "https://\(name).org")!, title: name, tags: [BookmarkTag(name: name)]))
    }
    context.insert(WebBookmark(url: URL(string: "https://d.org")!, title: "d"))
    try context.save()
    let wanted = ["a", "c"]
    let some = FetchDescriptor<WebBookmark>(
      predicate: #Predicate { bookmark in bookmark.tags.contains { wanted.contains($0.name) } },
      sortBy: [SortDescriptor(\.title)])
    #expect(try context.fetch(some).map(\.title) == ["a", "c"])
    let none = FetchDescriptor<WebBookmark>(predicate: #Predicate { $0.tags.isEmpty })
    #expect(try context.fetch(none).map(\.title) == ["d"])
  }
}

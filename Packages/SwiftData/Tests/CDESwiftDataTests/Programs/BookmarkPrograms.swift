import CDESwiftData
import Foundation
import Testing

// A bookmark list with tags and folders, as an app's model layer has it.

@Model
public final class SavedLink: CustomStringConvertible {
  #Unique<SavedLink>([\.url])
  #Index<SavedLink>([\.title], [\.added, \.title])

  public var url: URL
  public var title: String
  public private(set) var added: Date
  @Attribute(.externalStorage) public var thumbnail: Data?
  @Relationship(deleteRule: .nullify, inverse: \Label.bookmarks) public var labels: [Label]? = []
  var folder: LinkFolder?
  public var description: String { "\(title) <\(url)>" }

  public init(url: URL, title: String, added: Date = .now) {
    self.url = url
    self.title = title
    self.added = added
  }
}

@Model
public final class Label: Comparable {
  @Attribute(.unique) public var name: String
  var color: RGB
  public var bookmarks: [SavedLink]?

  init(name: String, color: RGB = .init(red: 0, green: 0, blue: 0)) {
    self.name = name
    self.color = color
  }

  public static func < (one: Label, other: Label) -> Bool { one.name < other.name }
}

struct RGB: Codable, Hashable {
  var red: Double
  var green: Double
  var blue: Double
}

/// A tree: its inverse is a property of the same class.
@Model
final class LinkFolder {
  var name: String
  var parent: LinkFolder?
  @Relationship(deleteRule: .cascade, inverse: \LinkFolder.parent) var children: [LinkFolder] = []
  @Relationship(deleteRule: .cascade, inverse: \SavedLink.folder) var bookmarks: [SavedLink] = []

  init(_ name: String, in parent: LinkFolder? = nil) {
    self.name = name
    self.parent = parent
  }

  convenience init(path: String) {
    self.init(path.split(separator: "/").last.map(String.init) ?? path)
  }

  var depth: Int { (parent?.depth ?? -1) + 1 }
}

/// What many apps write around a context.
struct ModelShelf<Model: PersistentModel> {
  let context: ModelContext

  func all(sortedBy order: [SortDescriptor<Model>] = []) throws -> [Model] {
    try context.fetch(FetchDescriptor<Model>(sortBy: order))
  }

  func first(_ predicate: Predicate<Model>) throws -> Model? {
    var descriptor = FetchDescriptor<Model>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func removeAll() throws {
    try context.delete(model: Model.self)
    try context.save()
  }
}

@Suite("Programs: bookmarks")
struct BookmarkPrograms {
  private func makeContext() throws -> ModelContext {
    ModelContext(try ModelContainer.inMemory(SavedLink.self, LinkFolder.self))
  }

  private func url(_ name: String) -> URL { URL(string: "https://\(name).example/")! }

  @Test("Labels are shared by bookmarks, in both directions")
  func labels() throws {
    let context = try makeContext()
    let (swift, server) = (
      Label(name: "swift", color: RGB(red: 1, green: 0.5, blue: 0)), Label(name: "server")
    )
    let book = SavedLink(url: url("book"), title: "Book")
    let blog = SavedLink(url: url("blog"), title: "Blog")
    context.insert(book)
    context.insert(blog)
    book.labels = [swift, server]
    blog.labels?.append(swift)
    try context.save()
    #expect(Set(swift.bookmarks?.map(\.title) ?? []) == ["Book", "Blog"])
    let other = ModelContext(context.container)
    let found = try #require(try ModelShelf<Label>(context: other).first(#Predicate { $0.name == "swift" }))
    #expect(found.color == RGB(red: 1, green: 0.5, blue: 0))
    #expect(found.bookmarks?.count == 2)
    let labels = try ModelShelf<Label>(context: other).all(sortedBy: [SortDescriptor(\.name)])
    #expect(labels.sorted() == labels && labels.map(\.name) == ["server", "swift"])
    other.delete(found)
    try other.save()
    #expect(
      try other.fetch(FetchDescriptor<SavedLink>(predicate: #Predicate { $0.title == "Blog" })).first?.labels
        == [])
  }

  @Test("A bookmark of the same address replaces the older one")
  func unique() throws {
    let context = try makeContext()
    context.insert(SavedLink(url: url("a"), title: "Old"))
    try context.save()
    let new = SavedLink(url: url("a"), title: "New")
    new.thumbnail = Data([1, 2, 3])
    context.insert(new)
    try context.save()
    let all = try ModelContext(context.container).fetch(FetchDescriptor<SavedLink>())
    #expect(all.map(\.title) == ["New"] && all.first?.thumbnail == Data([1, 2, 3]))
    #expect("\(new)" == "New <https://a.example/>")
  }

  @Test("Folders nest, know their depth and go with their parents")
  func folders() throws {
    let context = try makeContext()
    let root = LinkFolder("Root")
    context.insert(root)
    let work = LinkFolder("Work", in: root)
    let docs = LinkFolder(path: "a/b/Docs")
    docs.parent = work
    docs.bookmarks.append(SavedLink(url: url("spec"), title: "Spec"))
    try context.save()
    #expect(docs.depth == 2 && root.children.first === work && docs.name == "Docs")
    #expect(
      try context.fetch(
        FetchDescriptor<SavedLink>(predicate: #Predicate { $0.folder?.parent?.name == "Work" })
      )
      .map(\.title) == ["Spec"])
    context.delete(work)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<LinkFolder>()).map(\.name) == ["Root"])
    #expect(try context.fetchCount(FetchDescriptor<SavedLink>()) == 0)
  }

  @Test("A search ignores case and accents, and pages through the result")
  func search() throws {
    let context = try makeContext()
    for name in ["Café", "cafeteria", "Tea", "CAFE"] {
      context.insert(SavedLink(url: url(UUID().uuidString), title: name))
    }
    try context.save()
    let text = "cafe"
    var descriptor = FetchDescriptor<SavedLink>(
      predicate: #Predicate { text.isEmpty || $0.title.localizedStandardContains(text) },
      sortBy: [SortDescriptor(\.title, order: .forward)])
    #expect(try context.fetchCount(descriptor) == 3)
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).count == 2)
    descriptor.fetchOffset = 2
    #expect(try context.fetch(descriptor).count == 1)
  }

  @Test("Removing all leaves an empty store")
  func removeAll() throws {
    let context = try makeContext()
    for number in 0..<5 { context.insert(SavedLink(url: url("n\(number)"), title: "\(number)")) }
    try ModelShelf<SavedLink>(context: context).removeAll()
    #expect(try ModelShelf<SavedLink>(context: context).all().isEmpty)
  }
}

import Foundation

// The app on Apple's platforms compiles this file with SwiftData itself.
#if canImport(SwiftData)
  import SwiftData
#else
  import CDESwiftData
#endif

@Model
public final class Bookmark {
  public enum State: String, Codable, Sendable { case unread, read }

  #Index<Bookmark>([\.added])
  @Attribute(.unique) public var address: String
  public var title: String
  public var added: Date
  public var state = State.unread
  @Relationship(inverse: \Label.bookmarks) public var labels: [Label] = []

  public init(address: String, title: String, added: Date = .now) {
    self.address = address
    self.title = title
    self.added = added
  }
}

@Model
public final class Label {
  @Attribute(.unique) public var name: String
  public var bookmarks: [Bookmark] = []

  public init(name: String) { self.name = name }
}

public let bookmarkTypes: [any PersistentModel.Type] = [Bookmark.self, Label.self]

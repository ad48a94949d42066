import Foundation

#if canImport(SwiftData)
  import SwiftData
#else
  import CDESwiftData
#endif

/// What a bookmark is outside of its context.
public struct BookmarkValue: Codable, Sendable, Equatable {
  public var address: String
  public var title: String
  public var labels: [String]
  public var isRead: Bool

  public init(address: String, title: String, labels: [String] = [], isRead: Bool = false) {
    self.address = address
    self.title = title
    self.labels = labels
    self.isRead = isRead
  }
}

/// All uses of the bookmarks, in one context.
@ModelActor
public actor Library {
  /// Adds bookmarks, or updates those with the same address. One save writes all of them.
  public func add(_ values: [BookmarkValue]) throws {
    var known: [String: Label] = [:]
    for label in try modelContext.fetch(FetchDescriptor<Label>()) { known[label.name] = label }
    for value in values {
      let bookmark = try find(value.address) ?? Bookmark(address: value.address, title: value.title)
      modelContext.insert(bookmark)
      bookmark.title = value.title
      bookmark.labels = value.labels.map { name in
        if let label = known[name] { return label }
        let label = Label(name: name)
        known[name] = label
        return label
      }
    }
    try modelContext.save()
  }

  /// Bookmarks with a text in their title, or a label of that name, the oldest first.
  public func search(_ text: String) throws -> [BookmarkValue] {
    let condition = #Predicate<Bookmark> { bookmark in
      bookmark.title.localizedStandardContains(text) || bookmark.labels.contains { $0.name == text }
    }
    let sort = [SortDescriptor(\Bookmark.added), SortDescriptor(\Bookmark.address)]
    return try modelContext.fetch(FetchDescriptor(predicate: condition, sortBy: sort)).map(value)
  }

  /// Marks a bookmark as read.
  ///
  /// - Returns: false if there is none of the address.
  public func read(_ address: String) throws -> Bool {
    guard let bookmark = try find(address) else { return false }
    bookmark.state = .read
    try modelContext.save()
    return true
  }

  /// Removes a bookmark, and the labels that no other bookmark has.
  public func remove(_ address: String) throws -> Bool {
    guard let bookmark = try find(address) else { return false }
    for label in bookmark.labels where label.bookmarks.count == 1 { modelContext.delete(label) }
    modelContext.delete(bookmark)
    try modelContext.save()
    return true
  }

  public func labels() throws -> [String] {
    try modelContext.fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.name)])).map(\.name)
  }

  public func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Bookmark>()) }

  private func find(_ address: String) throws -> Bookmark? {
    let condition = #Predicate<Bookmark> { $0.address == address }
    return try modelContext.fetch(FetchDescriptor(predicate: condition)).first
  }

  private func value(_ bookmark: Bookmark) -> BookmarkValue {
    BookmarkValue(
      address: bookmark.address, title: bookmark.title, labels: bookmark.labels.map(\.name).sorted(),
      isRead: bookmark.state == .read)
  }
}

import CoreDataEvolution

/// A place in the store's history as a text, for the IDs of events.
enum HistoryPlace {
  static func text(_ token: NSPersistentHistoryToken) throws -> String {
    Base64URL.encode(try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true))
  }

  /// - Returns: nil for a text of something else.
  static func token(_ text: String) -> NSPersistentHistoryToken? {
    guard let data = Base64URL.decode(text) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
  }
}

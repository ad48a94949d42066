import Foundation
import SwiftData

public enum JournalSchemaV1: VersionedSchema {
  public static let versionIdentifier = Schema.Version(1, 0, 0)
  public static var models: [any PersistentModel.Type] { [Entry.self, Label.self] }
}

public enum Mood: String, Codable, CaseIterable, Sendable {
  case good, fair, bad
}

public struct Place: Codable, Hashable, Sendable {
  public var latitude: Double
  public var longitude: Double
  public var name: String?

  public init(latitude: Double, longitude: Double, name: String? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.name = name
  }
}

extension JournalSchemaV1 {
  @Model
  public final class Entry {
    @Attribute(.unique) public var identifier: UUID
    public var title: String
    public var text: String = ""
    public var date: Date
    public var mood: Mood = Mood.fair
    public var place: Place?
    @Relationship(deleteRule: .nullify, inverse: \Label.entries) public var labels: [Label] = []
    @Attribute(.externalStorage) public var photo: Data?
    @Transient public var isExpanded = false

    public init(title: String, date: Date = .now, mood: Mood = .fair) {
      identifier = UUID()
      self.title = title
      self.date = date
      self.mood = mood
    }

    public var summary: String { text.isEmpty ? title : "\(title): \(text)" }
  }

  @Model
  public final class Label {
    #Unique<Label>([\.name])
    public var name: String
    public var entries: [Entry]?

    public init(_ name: String) { self.name = name }
  }
}

public typealias Entry = JournalSchemaV1.Entry
public typealias Label = JournalSchemaV1.Label

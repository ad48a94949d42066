import CDESwiftData
import Foundation
import Observation

// What SwiftData's macro expands to, as some code bases write it out.

final class Album {
  init(title: String, year: Int = 2026) {
    self.title = title
    self.year = year
  }

  var title: String {
    @storageRestrictions(accesses: _$backingData, initializes: _title)
    init(initialValue) {
      _$backingData.setValue(forKey: \.title, to: initialValue)
      _title = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.title)
      return self.getValue(forKey: \.title)
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.title) {
        self.setValue(forKey: \.title, to: newValue)
      }
    }
  }
  @Transient private var _title: _SwiftDataNoType = _SwiftDataNoType()

  @_PersistedProperty
  var year: Int

  @_PersistedProperty
  @Relationship(deleteRule: .cascade, inverse: \Track.album)
  var tracks: [Track] = []

  @Transient private var _$backingData: any BackingData<Album> = Album.createBackingData()
  @Transient private let _$observationRegistrar = ObservationRegistrar()

  var persistentBackingData: any BackingData<Album> {
    get { _$backingData }
    set { _$backingData = newValue }
  }

  static var schemaMetadata: [Schema.PropertyMetadata] {
    [
      Schema.PropertyMetadata(
        name: "title", keypath: \Album.title, defaultValue: nil, metadata: Schema.Attribute(.unique)),
      Schema.PropertyMetadata(name: "year", keypath: \Album.year, defaultValue: nil, metadata: nil),
      Schema.PropertyMetadata(
        name: "tracks", keypath: \Album.tracks, defaultValue: nil,
        metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Track.album)),
    ]
  }

  required init(backingData: any BackingData<Album>) {
    _year = _SwiftDataNoType()
    _tracks = _SwiftDataNoType()
    self.persistentBackingData = backingData
  }

  struct _SwiftDataNoType {}
}

extension Album: PersistentModel, Observable {}

/// A class of the macro on the other side.
@Model
final class Track {
  var name: String
  var album: Album?

  init(name: String, album: Album? = nil) {
    self.name = name
    self.album = album
  }
}

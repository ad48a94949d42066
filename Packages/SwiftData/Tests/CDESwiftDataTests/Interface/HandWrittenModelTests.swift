import CDESwiftData
import Foundation
import Observation
import Synchronization
import Testing

@Suite("Models that are written by hand")
struct HandWrittenModelTests {
  @Test("A model that is written by hand has values, relationships and identity")
  func detached() {
    let album = Album(title: "Blue", year: 1971)
    let track = Track(name: "Carey", album: album)
    #expect(album.title == "Blue" && album.year == 1971 && album.tracks == [track])
    #expect(track.album === album && album.modelContext == nil)
    album.tracks = []
    #expect(track.album == nil)
    #expect(Album(title: "x").year == 2026)
  }

  @Test("A model that is written by hand is stored, fetched, changed and deleted")
  func stored() throws {
    let container = try ModelContainer.inMemory(Album.self)
    let context = ModelContext(container)
    let album = Album(title: "Blue", year: 1971)
    context.insert(album)
    album.tracks = [Track(name: "Carey"), Track(name: "California")]
    try context.save()
    let other = ModelContext(container)
    let found = try #require(
      try other.fetch(FetchDescriptor<Album>(predicate: #Predicate { $0.title == "Blue" })).first)
    #expect(found !== album && found.persistentModelID == album.persistentModelID)
    #expect(found.year == 1971 && found.tracks.map(\.name).sorted() == ["California", "Carey"])
    #expect(found.tracks.allSatisfy { $0.album === found })
    found.year = 1972
    try other.save()
    #expect(try context.fetch(FetchDescriptor<Album>()).first === album && album.year == 1972)
    context.delete(album)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Track>()) == 0)
  }

  @Test("Readers of a model that is written by hand wake for the property that they read")
  func observed() {
    let album = Album(title: "Blue")
    let woken = Mutex(0)
    withObservationTracking {
      _ = album.title
    } onChange: {
      woken.withLock { $0 += 1 }
    }
    album.year = 1
    #expect(woken.withLock { $0 } == 0)
    album.title = "b"
    #expect(woken.withLock { $0 } == 1)
  }
}

import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

// Sources: "validateValue(_:forKey:)" and "Object Validation" of Core Data's documentation, if nothing else is named.

private struct Refusal: Error, Equatable { var key: String }

@PersistentModel
private final class Song: NSManagedObject {
  @Attribute(.length(1...8)) var title: String = "a"
  @Attribute(persistentName: "artist_name") var artist: String?
  var year: Int16 = 0
  @Relationship(inverse: "songs", deleteRule: .nullify) var album: Album?
  @Ignore var calls: [String] = []

  func validateTitle(_ value: UnsafeMutablePointer<AnyObject?>) throws {
    calls.append("title \(value.pointee as? String ?? "-")")
    if value.pointee as? String == "bad" { throw Refusal(key: "title") }
    if value.pointee as? String == " x " { value.pointee = "x" as NSString }
  }

  func validateArtist(_ value: UnsafeMutablePointer<AnyObject?>) throws {
    if value.pointee as? String == "bad" { throw Refusal(key: "artist") }
  }
}

@PersistentModel
private final class Album: NSManagedObject {
  var name: String = ""
  @Relationship(inverse: "album", deleteRule: .nullify) var songs: Set<Song>
  @Ignore var checked = 0

  func validateSongs(_ value: UnsafeMutablePointer<AnyObject?>) throws {
    checked += 1
    if (value.pointee as? NSSet)?.count ?? 0 > 2 { throw Refusal(key: "songs") }
  }
}

/// Passes all values through one method.
private class Careful: NSManagedObject {
  var keys: [String] = []
  override func validateValue(_ value: UnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
    keys.append(key)
    if key == "note", value.pointee == nil { value.pointee = "none" as NSString }
    if key == "free" { return }
    try super.validateValue(value, forKey: key)
  }
}

/// Inherits the method.
private final class VeryCareful: Careful {}

@Suite("Validation of single values")
struct ValueValidationTests {
  private func stack() throws -> Stack { try Stack([Song.self, Album.self]) }

  @Test(
    "A save calls the method of a property for new and for changed objects, and an error of it stops the save"
  )
  func saves() throws {
    let context = try stack().context()
    let song = Song(context: context)
    song.title = "bad"
    #expect(throws: Refusal(key: "title")) { try context.save() }
    #expect(context.hasChanges)
    song.title = "good"
    try context.save()
    #expect(song.calls == ["title bad", "title good"])
    song.year = 1999
    try context.save()
    #expect(song.calls.last == "title good" && song.calls.count == 3)
    song.title = "bad"
    #expect(throws: Refusal(key: "title")) { try context.save() }
  }

  @Test("A value that the method replaces is set on the object and saved")
  func replacement() throws {
    let stack = try stack()
    let context = stack.context()
    let song = Song(context: context)
    song.title = " x "
    try context.save()
    #expect(song.title == "x" && !context.hasChanges)
    let read = try #require(try stack.context().fetch(Song.fetchRequest()).first)
    #expect(read.title == "x")
  }

  @Test("A value that the model refuses does not reach the method, and all failures are reported together")
  func together() throws {
    let context = try stack().context()
    let song = Song(context: context)
    song.title = "far too long"
    song.artist = "bad"
    let error = try #require(throws: ManagedObjectError.self) { try context.save() }
    #expect(error.code == .multipleValidationErrors)
    #expect(error.failures.map(\.code) == [.stringTooLong, .invalidValue])
    #expect(error.failures.last?.cause as? Refusal == Refusal(key: "artist"))
    #expect(song.calls.isEmpty)
  }

  @Test(
    "Members that were not read are not passed to their method, which the documentation leaves open (assumed)"
  )
  func members() throws {
    let stack = try stack()
    let writer = stack.context()
    let album = Album(context: writer)
    for _ in 0..<2 { album.addToSongs(Song(context: writer)) }
    try writer.save()
    #expect(album.checked == 1)
    let context = stack.context()
    let read = try #require(try context.fetch(Album.fetchRequest()).first)
    read.name = "b"
    try context.save()
    #expect(read.checked == 0)
    read.addToSongs(Song(context: context))
    #expect(throws: Refusal(key: "songs")) { try context.save() }
  }

  @Test("validateValue checks a value that the property need not have, by the model and then by the method")
  func single() throws {
    let context = try stack().context()
    let song = Song(context: context)
    func check(_ value: Any?, _ key: String) throws {
      var value = value.map { $0 as AnyObject }
      try song.validateValue(&value, forKey: key)
    }
    func code(_ value: Any?, _ key: String) -> ManagedObjectError.Code? {
      do { try check(value, key) } catch { return (error as? ManagedObjectError)?.code }
      return nil
    }
    try check("fine", "title")
    #expect(throws: Refusal(key: "title")) { try check("bad", "title") }
    #expect(throws: Refusal(key: "artist")) { try check("bad", "artist_name") }
    #expect(code("far too long", "title") == .stringTooLong)
    #expect(code(nil, "title") == .missingMandatoryProperty)
    #expect(code(NSNull(), "title") == .missingMandatoryProperty)
    #expect(code(3, "title") == .invalidValue)
    #expect(code(40_000, "year") == .invalidValue)
    #expect(code(song, "album") == .invalidValue)
    try check(Album(context: context), "album")
    try check(nil, "artist_name")
    try check("anything", "unknown")
    #expect(song.title == "a" && song.album == nil)
    var value: AnyObject? = " x " as NSString
    try song.validateValue(&value, forKey: "title")
    #expect(value as? String == "x" && song.title == "a")
    #expect(throws: CocoaError.self) {
      var value: AnyObject? = nil
      try song.validateValue(&value, forKey: "title")
    }
  }

  @Test(
    "A class that overrides validateValue gets each property of an inserted and of an updated object",
    arguments: [false, true])
  func override(isInherited: Bool) throws {
    let class_ = isInherited ? VeryCareful.self : Careful.self
    let made = entity(
      "Careful", class_,
      [
        attribute("note", .stringAttributeType), attribute("free", .stringAttributeType, optional: false),
        attribute("held", .stringAttributeType, optional: false),
      ])
    reflect(.one(made, "friend"))
    let stack = try Stack(model: model(made))
    let context = stack.context()
    let careful = try #require(context.make("Careful") as? Careful)
    let error = try #require(throws: ManagedObjectError.self) { try context.save() }
    // Its own method takes the missing value of "free".
    #expect(error.code == .missingMandatoryProperty && error.property == "held")
    #expect(Set(careful.keys) == ["note", "free", "held", "friend"])
    careful.setValue("h", forKey: "held")
    careful.setValue(careful, forKey: "friend")
    try context.save()
    #expect(careful.value(forKey: "note") as? String == "none")
    #expect(!context.hasChanges)
    careful.keys = []
    careful.setValue("k", forKey: "held")
    try context.save()
    #expect(Set(careful.keys) == ["note", "free", "held", "friend"])
  }

  @Test("The save of a child context validates before it reaches the parent")
  func child() throws {
    let parent = try stack().context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = parent
    child.performAndWait {
      let song = Song(context: child)
      song.title = "bad"
      #expect(throws: Refusal(key: "title")) { try child.save() }
      song.title = " x "
      #expect(throws: Never.self) { try child.save() }
    }
    parent.performAndWait {
      let inserted = parent.insertedObjects.compactMap { $0 as? Song }
      #expect(inserted.map(\.title) == ["x"])
    }
  }
}

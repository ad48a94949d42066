/// What a context keeps for its undo manager.
struct UndoRecorder {
  let manager: UndoManager
  /// Objects with unsaved values at the last announcement.
  private(set) var images: [ObjectIdentifier: UndoImage] = [:]

  subscript(object: NSManagedObject) -> UndoImage? {
    get { images[ObjectIdentifier(object)] }
    set { images[ObjectIdentifier(object)] = newValue }
  }

  /// Notes the present values of an object, which are not to be undone.
  mutating func note(_ object: NSManagedObject) { self[object] = object.hasChanges ? UndoImage(object) : nil }

  /// Drops what a save wrote. The rows have these values.
  mutating func dropSaved() {
    if images.isEmpty { return }
    images = images.compactMapValues { image in
      var image = image
      image.dropSaved()
      return image.isEmpty ? nil : image
    }
  }

  mutating func dropAll() { images = [:] }
}

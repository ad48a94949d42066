import CDEManagedModel
import CDEModelRuntime
@_spi(CDE) import CDESQLiteFaults
import Foundation
import Testing

@Suite("Reads that fail")
struct FailedReadTests {
  private struct World {
    let container: NSPersistentContainer
    let faults = StoreFaults()
    let folder: URL

    init() throws {
      let stack = try Stack(model: try ValueModel.make())
      folder = stack.folder
      try ValueModel.fill(stack.context())
      try stack.close()
      container = NSPersistentContainer(name: "Test", managedObjectModel: stack.container.managedObjectModel)
      let description = NSPersistentStoreDescription(url: stack.file)
      description.setOption(faults.vfs, forKey: CDESQLiteVFSOption)
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
    }

    /// Has every read fail while something is done.
    func failing<Result>(_ body: () throws -> Result) rethrows -> Result {
      faults.begin(.always(.ioError))
      defer { faults.end() }
      return try body()
    }
  }

  /// A saved specimen that the context knows as a fault only.
  private func fault(_ context: NSManagedObjectContext) throws -> Specimen {
    let id = try #require(try context.fetch(Specimen.fetchRequest()).first).objectID
    context.reset()
    return try #require(context.object(with: id) as? Specimen)
  }

  private func refusal(_ context: NSManagedObjectContext) -> ManagedObjectError? {
    #expect(throws: ManagedObjectError.self) { try context.save() }
  }

  @Test(
    "A row that could not be read is not saved with what was made up for it, until it is refreshed", .onSQLite
  )
  func row() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let specimen = try fault(context)
    let text = world.failing { specimen.textOrT }
    #expect(text == "t")
    #expect(specimen.textOrT == "t" && specimen.text.hasPrefix("text "))
    specimen.textOrT = text + "!"
    let error = refusal(context)
    #expect(
      error?.code == .unreadValue && error?.entity == "Specimen" && error?.objectID == specimen.objectID)
    #expect(refusal(context) != nil)
    context.refresh(specimen, mergeChanges: true)
    specimen.textOrT = "right"
    try context.save()
    _ = context
  }

  @Test("A rollback and a reset let a failed read be forgotten, of unchanged objects too")
  func rollback() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let specimen = try fault(context)
    world.failing { _ = specimen.small }
    context.rollback()
    specimen.small = 9
    try context.save()
    let other = try fault(context)
    world.failing { _ = other.small }
    context.refresh(other, mergeChanges: false)
    other.small = 10
    try context.save()
    #expect(other.small == 10)
  }

  @Test("Members that could not be read are remembered with their relationship's name", .onSQLite)
  func members() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let keeper = try #require(try context.fetch(Curator.fetchRequest()).first)
    #expect(world.failing { keeper.specimens.count } == 0)
    keeper.name = "0 specimens"
    let error = refusal(context)
    #expect(error?.code == .unreadValue && error?.property == "specimens")
    #expect(error?.message.contains("Curator.specimens of x-coredata://") == true)
    context.rollback()
    keeper.name = "\(keeper.specimens.count) specimens"
    try context.save()
    #expect(keeper.name == "3 specimens")
  }

  @Test("What other objects could not read keeps no object from being saved, nor from being deleted")
  func bystanders() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let specimens = try context.fetch(Specimen.fetchRequest())
    let keeper = try #require(try context.fetch(Curator.fetchRequest()).first)
    world.failing { _ = keeper.specimens }
    specimens[0].text = "changed"
    try context.save()
    context.delete(keeper)
    try context.save()
    #expect(try context.count(for: Curator.fetchRequest()) == 1)
  }

  /// What is reported about pictures while something is done.
  @discardableResult
  private func collectingNotes(_ body: () throws -> Void) rethrows -> [String] {
    let notes = Unchecked(NSMutableArray())
    Diagnostics.handler = { note in if note.contains("Specimen.picture") { notes.value.add(note) } }
    defer { Diagnostics.handler = nil }
    try body()
    return notes.value.compactMap { $0 as? String }
  }

  /// A saved specimen whose picture is in a file, when the files of all pictures were moved away.
  private func specimenWithoutFile(
    _ stack: Stack, _ context: NSManagedObjectContext
  ) throws -> (Specimen, moves: [(file: URL, moved: URL)]) {
    try ValueModel.fill(stack.context())
    let large = try #require(
      try context.fetch(Specimen.fetchRequest()).first { ($0.picture?.count ?? 0) > 1000 })
    context.refreshAllObjects()
    let all = try #require(FileManager.default.enumerator(at: stack.folder, includingPropertiesForKeys: nil))
    let moves = all.compactMap { $0 as? URL }.filter {
      $0.path.contains("EXTERNAL") && !$0.hasDirectoryPath
    }.map { (file: $0, moved: ProcessFolder.newURL()) }
    for (file, moved) in moves { try FileManager.default.moveItem(at: file, to: moved) }
    return (large, moves)
  }

  @Test(
    "An external value whose file is gone reads as nil, and a save of other values keeps its name", .onSQLite)
  func externalFile() throws {
    let stack = try Stack(model: try ValueModel.make())
    let context = stack.context()
    let (large, moves) = try specimenWithoutFile(stack, context)
    let notes = try collectingNotes {
      #expect(large.picture == nil && large.picture == nil)
      large.text = "without a picture"
      try context.save()
      // The whole object is validated and compared where nothing else changed.
      large.text = "again"
      try context.save()
    }
    #expect(notes.count == 1 && notes[0].contains("Specimen.picture of x-coredata://"), "\(notes)")
    #expect(moves.contains { notes[0].contains($0.file.lastPathComponent) })
    #expect(notes[0].contains("Copy the store together"))
    for (file, moved) in moves { try FileManager.default.moveItem(at: moved, to: file) }
    context.refresh(large, mergeChanges: false)
    #expect(large.text == "again" && (large.picture?.count ?? 0) > 1000)
  }

  @Test("A new value replaces one whose file is gone, and so does nil", .onSQLite)
  func replacedExternalFile() throws {
    for value in [Data([1]), nil] {
      let stack = try Stack(model: try ValueModel.make())
      let context = stack.context()
      let (large, _) = try specimenWithoutFile(stack, context)
      try collectingNotes {
        #expect(large.picture == nil)
        large.picture = value
        try context.save()
        context.refresh(large, mergeChanges: false)
        #expect(large.picture == value)
      }
    }
  }

  @Test("An external value whose file can't be read is no nil to be saved", .onSQLite)
  func unreadableExternalFile() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let large = try #require(
      try context.fetch(Specimen.fetchRequest()).first { ($0.picture?.count ?? 0) > 1000 })
    context.refreshAllObjects()
    _ = large.text
    #expect(world.failing { large.picture } == nil)
    large.text = "without a picture"
    let error = refusal(context)
    #expect(error?.code == .unreadValue && error?.property == "picture")
    context.refresh(large, mergeChanges: true)
    large.picture = Data([1])
    try context.save()
    #expect(large.picture == Data([1]))
  }

  @Test("An archive that can't be read is an error and no nil, and a new value mends it", .onSQLite)
  func archive() throws {
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    try stack.sql("UPDATE ZSPECIMEN SET ZKEYWORDS = x'0102'")
    let context = stack.context()
    let specimen = try #require(try context.fetch(Specimen.fetchRequest()).first)
    #expect(specimen.keywords == nil)
    specimen.text = "no keywords"
    let error = refusal(context)
    #expect(error?.code == .unreadValue && error?.property == "keywords")
    #expect(error?.message.contains("NSSecureUnarchiveFromDataTransformer") == true)
    context.refresh(specimen, mergeChanges: true)
    specimen.keywords = ["new"]
    try context.save()
    context.refresh(specimen, mergeChanges: false)
    #expect(specimen.keywords == ["new"] && specimen.text == "no keywords")
  }

  @Test("A fault whose row is gone reads as defaults, and is not saved as if these were data", .onSQLite)
  func gone() throws {
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    let context = stack.context()
    let specimen = try fault(context)
    try stack.sql(
      "DELETE FROM ZSPECIMEN WHERE Z_PK = \(specimen.objectID.uriRepresentation().lastPathComponent.dropFirst())"
    )
    #expect(
      specimen.textOrT == "t" && specimen.text == "" && specimen.smallOrSeven == 7 && specimen.isDeleted)
    specimen.text = "back"
    #expect(refusal(context)?.code == .saveConflict)
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.save()
    #expect(try stack.sql("SELECT count(*) FROM ZSPECIMEN WHERE ZTEXT = 'back'") == [["0"]])
  }

  @Test("A store that is no longer loaded is a failed read, and not a deleted row; its metadata are told")
  func removedStore() throws {
    let stack = try Stack(model: try ValueModel.make())
    try ValueModel.fill(stack.context())
    let context = stack.context()
    let specimen = try fault(context)
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    #expect(coordinator.metadata(for: store)["NSStoreType"] as? String == "SQLite")
    try stack.close()
    #expect(specimen.textOrT == "t" && !specimen.isDeleted)
    #expect(coordinator.metadata(for: store)["NSStoreType"] as? String == "SQLite")
  }

  @Test(
    "An object of a tree whose row can't be read is none of the tree's, and is found by the next look",
    .onSQLite)
  func ancestorID() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    let leaf = try #require(try context.all("Leaf").first)
    let text = leaf.objectID.uriRepresentation().absoluteString.replacingOccurrences(
      of: "/Leaf/", with: "/Node/")
    let uri = try #require(URL(string: text))
    let coordinator = world.container.persistentStoreCoordinator
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    context.reset()
    let unread = world.failing { context.object(with: id) }
    #expect(unread.isDeleted)
    #expect(context.object(with: id).entity.name == "Leaf")
    #expect(context.object(with: id).value(forKey: "color") as? String == "green")
  }
}

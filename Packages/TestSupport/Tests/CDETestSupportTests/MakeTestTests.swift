import CDEManagedModel
import CDEModelRuntime
import CDETestSupport
import Foundation
import Testing

@Suite("Throw-away containers")
struct MakeTestTests {
  func model() throws -> NSManagedObjectModel { try .makeRuntimeModel(Note.self, Label.self) }

  @Test("The name comes from the call site and is the store's and the container's")
  func callSite() async throws {
    let container = try NSPersistentContainer.makeTest(model: model())
    #expect(container.name == "CDETestSupportTests_MakeTestTests.swift-callSite")
    #expect(container.storeURL?.lastPathComponent == container.name + ".sqlite")
    let folder = container.storeURL?.deletingLastPathComponent().lastPathComponent
    #expect(folder?.hasPrefix("CoreDataEvolutionTestTemp") == true)
    #expect(!container.viewContext.automaticallyMergesChangesFromParent)
    try await container.addNote("one")
    #expect(try await container.titles() == ["one"])
  }

  @Test(
    "Names keep letters, digits, dots, underscores and dashes; the rest becomes one underscore a run",
    arguments: [
      ("plain", "plain"), ("a b/c::d", "a_b_c_d"), ("__..--x--..__", "x"), ("Größe 7.ü", "Größe_7.ü"),
      ("f(a:b:)", "f_a_b"), ("a__b", "a_b"), ("../../etc/passwd", "etc_passwd"),
      ("()", "CoreDataEvolutionTest"), (" ", "CoreDataEvolutionTest"),
    ])
  func names(given: String, expected: String) throws {
    let container = try NSPersistentContainer.makeTest(
      model: model(), testName: given, subDirectory: "CoreDataEvolutionTestTemp/names")
    #expect(container.name == expected)
  }

  @Test("What an earlier run left under the name is gone, sidecars and external values included")
  func stale() async throws {
    let name = "stale files"
    let earlier = try NSPersistentContainer.makeTest(model: model(), testName: name)
    try await earlier.addNote("old")
    let url = try #require(earlier.storeURL)
    let support = url.deletingLastPathComponent().appendingPathComponent(".stale_files_SUPPORT")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    for store in earlier.persistentStoreCoordinator.persistentStores {
      try earlier.persistentStoreCoordinator.remove(store)
    }
    // A log that belongs to no database would be fatal if the new store met it.
    for suffix in ["-wal", "-shm", "-journal"] {
      try Data("no log at all".utf8).write(to: URL(fileURLWithPath: url.path + suffix))
    }
    let container = try NSPersistentContainer.makeTest(model: model(), testName: name)
    #expect(container.storeURL == url)
    #expect(!FileManager.default.fileExists(atPath: support.path))
    #expect(!FileManager.default.fileExists(atPath: url.path + "-journal"))
    #expect(try await container.titles() == [])
    try await container.addNote("new")
    #expect(try await container.titles() == ["new"])
  }

  @Test("Two hundred containers of the same classes, made in parallel, do not disturb each other")
  func parallel() async throws {
    let titles = try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
      for number in 0..<200 {
        group.addTask {
          let container = try NSPersistentContainer.makeRuntimeTest(
            modelTypes: Note.self, Label.self, testName: "parallel \(number)",
            subDirectory: "CoreDataEvolutionTestTemp/parallel")
          try await container.addNote("note \(number)")
          return (number, try await container.titles())
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(titles.count == 200)
    for number in 0..<200 { #expect(titles[number] == ["note \(number)"]) }
  }

  @Test("A folder that another process uses is left alone, and its stores stay")
  func usedFolder() async throws {
    let name = "CoreDataEvolutionTestTemp/used-\(UUID().uuidString)"
    let used = FileManager.default.temporaryDirectory.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: used, withIntermediateDirectories: true)
    // A lock by another opening of the file excludes this process's as another process's does.
    let lock = open(used.appendingPathComponent(".lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    defer { close(lock) }
    let theirs = used.appendingPathComponent("shared.sqlite")
    try Data("theirs".utf8).write(to: theirs)
    // A folder of a process that has ended. No process has that number.
    let left = URL(fileURLWithPath: "\(used.path)-\(pid_t.max)")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    for _ in 0..<2 {
      let container = try NSPersistentContainer.makeTest(
        model: model(), testName: "shared", subDirectory: name)
      try await container.addNote("mine")
      #expect(container.storeURL?.deletingLastPathComponent().path == "\(used.path)-\(getpid())")
      #expect(try await container.titles() == ["mine"])
    }
    #expect(try Data(contentsOf: theirs) == Data("theirs".utf8))
    #expect(!FileManager.default.fileExists(atPath: left.path))
  }

  @Test("A folder that can't be made is an error with its path")
  func folder() throws {
    let blocker = FileManager.default.temporaryDirectory.appendingPathComponent("cde-\(UUID().uuidString)")
    try Data().write(to: blocker)
    defer { try? FileManager.default.removeItem(at: blocker) }
    let error = #expect(throws: CDTestContainerError.self) {
      try NSPersistentContainer.makeTest(model: model(), subDirectory: blocker.lastPathComponent + "/inside")
    }
    guard case .failedToCreateStoreDirectory(let path, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasSuffix(blocker.lastPathComponent + "/inside"))
    #expect(!reason.isEmpty)
  }

  @Test("A stale file that can't be removed is an error with its path")
  func removal() throws {
    let name = String(repeating: "n", count: 300)
    let error = #expect(throws: CDTestContainerError.self) {
      try NSPersistentContainer.makeTest(model: model(), testName: name)
    }
    guard case .failedToRemoveStaleStoreFile(let path, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.contains(name))
  }

  @Test("A store that can't be loaded is an error that says why, never fatal")
  func loading() throws {
    let error = #expect(throws: CDTestContainerError.self) {
      try NSPersistentContainer.makeTest(model: NSManagedObjectModel(), testName: "no model")
    }
    guard case .failedToLoadPersistentStore("no_model", let path, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasSuffix("/no_model.sqlite"))
    #expect(reason.contains("has no model"))
    #expect(error?.errorDescription?.contains(reason) == true)
  }

  @Test("Both forms of makeRuntimeTest make the same model, and mistakes in it are its own errors")
  func runtimeForms() throws {
    let one = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: Note.self, Label.self, testName: "variadic")
    let two = try NSPersistentContainer.makeRuntimeTest(
      modelTypes: [Note.self, Label.self], testName: "array")
    #expect(one.managedObjectModel === two.managedObjectModel)
    #expect(one.managedObjectModel.entities.map(\.name) == ["Note", "Label"])
    #expect(one.storeURL != two.storeURL)
    #expect(throws: CDRuntimeModelBuilderError.self) {
      try NSPersistentContainer.makeRuntimeTest(modelTypes: Note.self)
    }
    #expect(throws: CDRuntimeModelBuilderError.emptyInput) {
      try NSPersistentContainer.makeRuntimeTest(modelTypes: [])
    }
  }
}

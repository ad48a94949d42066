import Foundation

// Tools/ladder compiles and runs this; its head describes the arguments.

func run() throws -> Int32 {
  var arguments = CommandLine.arguments.dropFirst()
  var root = FileManager.default.currentDirectoryPath
  var path = ""
  var details = false
  var chosen: Set<String> = []
  while let argument = arguments.popFirst() {
    switch argument {
    case "--root": root = arguments.popFirst() ?? root
    case "--index": path = arguments.popFirst() ?? ""
    case "--details": details = true
    default: chosen.insert(argument)
    }
  }
  let packages = URL(filePath: root).appending(path: "Packages")
  var ladders: [(ladder: Ladder, folder: URL)] = []
  for package in try FileManager.default.contentsOfDirectory(atPath: packages.path).sorted() {
    let readme = packages.appending(path: package).appending(path: "README.md")
    guard let text = try? String(contentsOf: readme, encoding: .utf8) else { continue }
    for ladder in try Ladder.all(in: text, of: "Packages/\(package)/README.md") {
      if !chosen.isEmpty, !chosen.contains(ladder.module) { continue }
      let folder = packages.appending(path: "\(package)/Sources/\(ladder.module)")
      ladders.append((ladder, folder))
    }
  }
  if ladders.isEmpty {
    throw LadderError("No README has a section \"## Folders of `Module`\" for these modules.")
  }
  if path.isEmpty { throw LadderError("There is no index. Run swift build first.") }
  let index = try IndexStore(path: path)
  let units = try index.units(of: Set(ladders.map(\.ladder.module)))
  var problems: [String] = []
  for (ladder, folder) in ladders {
    let units = units.filter { $0.module == ladder.module }
    if units.isEmpty {
      throw LadderError("\(path) has no file of \(ladder.module). Build it, or name the modules to look at.")
    }
    let references = try ModuleReferences(folder: folder, units: units, index: index)
    let report = Report(
      ladder: ladder, references: references,
      folder: String(folder.path.dropFirst(URL(filePath: root).path.count + 1)))
    problems += report.print(details: details)
  }
  if problems.isEmpty { return 0 }
  print("\nFAIL")
  for problem in problems { print("  \(problem)") }
  print(
    """
      Fix: move the declaration to the folder it belongs to, or let the lower file see the higher one through a protocol.
      An exception stands in the README's table, with its reason.
    """)
  return 1
}

do {
  exit(try run())
} catch let error as LadderError {
  FileHandle.standardError.write(Data("error: \(error.message)\n".utf8))
  exit(2)
}

import Foundation

guard CommandLine.arguments.count == 3, let seed = UInt64(CommandLine.arguments[2]) else {
  print("Usage: generator FOLDER SEED")
  exit(2)
}
let folder = URL(fileURLWithPath: CommandLine.arguments[1])
var maker = ModelMaker(seed: seed)
let model = maker.make()
var classes = Classes(model, seed: seed)

let bundle = "App/Model/Large.xcdatamodeld"
var files: [(path: String, text: String)] = [
  ("Package.swift", Surroundings.manifest),
  ("Linux/Large/Large.swift", "// The sources of this module are those of App/Model.\n"),
  ("Linux/Large/CoreDataSources.json", Surroundings.settings),
  ("Linux/LargeTests/LargeTests.swift", "// The sources of this module are those of AppTests.\n"),
  ("Linux/LargeTests/CoreDataSources.json", Surroundings.testSettings),
  ("Beside/Beside.swift", Surroundings.beside),
  ("App/Model/Support.swift", Surroundings.support),
  ("App/Model/Screens/OrdersViewController.swift", Surroundings.screen),
  ("App/Model/Colors+UIKit.swift", "#if canImport(UIKit)\n  import UIKit\n#endif\n"),
  ("\(bundle)/.xccurrentversion", Surroundings.currentVersion),
  ("\(bundle)/Large.xcdatamodel/contents", ModelFile(model: model, isOld: true).text),
  ("\(bundle)/Large v2.xcdatamodel/contents", ModelFile(model: model, isOld: false).text),
]
files += classes.files().map { ("App/Model/\($0.path)", $0.text) }
files += Tests(model: model).files().map { ("AppTests/\($0.path)", $0.text) }
for file in files {
  let url = folder.appendingPathComponent(file.path)
  try FileManager.default.createDirectory(
    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
  try Data(file.text.utf8).write(to: url)
}
let attributes = model.entities.reduce(0) { $0 + $1.attributes.count }
let relationships = model.entities.reduce(0) { $0 + $1.relationships.count }
print(
  "Seed \(seed): \(model.entities.count) entities, \(attributes) attributes, \(relationships) relationships, "
    + "\(files.count) files in \(folder.path)")

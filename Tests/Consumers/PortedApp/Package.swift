// swift-tools-version: 6.2
import PackageDescription

#if os(Linux)
  let evolution: [Package.Dependency] = [
    // Not by URL as the packages beside it: it shares the build of the root's tests, with its trait.
    .package(
      name: "CoreDataEvolution", path: Context.environment["CDE_FOLDER"] ?? "../../..",
      traits: Set(Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? []))
  ]
  let model = Target.target(
    name: "Model",
    dependencies: [.product(name: "CDECoreData", package: "CoreDataEvolution")],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/ModelTests", "Linux/Journal", "Linux/JournalTests"],
    sources: ["Linux/Model"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
  let tests = Target.testTarget(
    name: "ModelTests",
    dependencies: ["Model"],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/Model", "Linux/Journal", "Linux/JournalTests"],
    sources: ["Linux/ModelTests"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
  let journal = Target.target(
    name: "Journal",
    dependencies: [
      .product(name: "CDESwiftData", package: "CoreDataEvolution"),
      .product(name: "CDELogging", package: "CoreDataEvolution"),
    ],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/Model", "Linux/ModelTests", "Linux/JournalTests"],
    sources: ["Linux/Journal"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
  let journalTests = Target.testTarget(
    name: "JournalTests",
    dependencies: ["Journal", .product(name: "CDECoreData", package: "CoreDataEvolution")],
    path: ".",
    exclude: ["Sources", "Tests", "Linux/Model", "Linux/ModelTests", "Linux/Journal"],
    sources: ["Linux/JournalTests"],
    plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")])
#else
  let evolution: [Package.Dependency] = []
  let journal = Target.target(name: "Journal")
  let journalTests = Target.testTarget(name: "JournalTests", dependencies: ["Journal"])
  let model = Target.target(name: "Model", resources: [.process("Trips.xcdatamodeld")])
  let tests = Target.testTarget(name: "ModelTests", dependencies: ["Model"])
#endif

let package = Package(
  name: "PortedApp",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "Model", targets: ["Model"])],
  dependencies: evolution,
  targets: [model, tests, journal, journalTests],
  swiftLanguageModes: [.v5]
)

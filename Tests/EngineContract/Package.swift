// swift-tools-version: 6.2
import PackageDescription

// Runs the tests of contexts, predicates, observation and databases over PostgreSQL: the sources are links to those of the layers, and
// the engine takes the place of the one for SQLite.

let package = Package(
  name: "EngineContract",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CoreDataEvolution", path: "../..", traits: ["PostgreSQL"])],
  targets: [
    .target(
      name: "EngineUnderTest",
      dependencies: [
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEPostgreSQL", package: "CoreDataEvolution"),
        .product(name: "CDEPostgreSQLStore", package: "CoreDataEvolution"),
      ],
      path: "Engine"),
    .target(name: "EngineLoader", path: "Loader"),
    .testTarget(
      name: "CDEModelRuntimeTests",
      dependencies: [
        "EngineUnderTest", "EngineLoader",
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDEPredicates", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
        .product(name: "CDEExecutors", package: "CoreDataEvolution"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

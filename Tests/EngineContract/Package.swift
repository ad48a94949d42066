// swift-tools-version: 6.2
import PackageDescription

// Runs the tests of contexts, predicates, observation and databases over PostgreSQL: the sources are links to those of the layers, and
// the engine takes the place of the one for SQLite.

/// Tests of files, of SQLite's own formats, and of saves that files allow and a server does not.
let aboutFiles = [
  "StoredEdgeTests.swift", "ForeignStoreTests.swift", "StoreMovingTests.swift", "SalvagedStoreTests.swift",
  "MutatedStoreTests.swift", "CachedModelTests.swift", "StoreEngineTests.swift",
  // A manager migrates one file into another. What it does when a store is opened is tested.
  "Migrations/MigrationManagerTests.swift", "Migrations/MigrationPolicyTests.swift",
]

let package = Package(
  name: "EngineContract",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CoreDataEvolution", path: "../..", traits: ["PostgreSQL"])],
  targets: [
    .target(
      name: "EngineUnderTest",
      dependencies: [
        .product(name: "CDEExecutors", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
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
      ],
      exclude: aboutFiles),
    .target(
      name: "CDEObservationModels",
      dependencies: [
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
      ],
      path: "Tests/CDEObservationModels"),
    .testTarget(
      name: "CDEObservationTests",
      dependencies: [
        "EngineUnderTest", "EngineLoader", "CDEObservationModels",
        .product(name: "CDEObservation", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
      ]),
    .testTarget(
      name: "CDEDatabasesTests",
      dependencies: [
        "EngineUnderTest", "EngineLoader",
        .product(name: "CDEDatabases", package: "CoreDataEvolution"),
        .product(name: "CDEExecutors", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

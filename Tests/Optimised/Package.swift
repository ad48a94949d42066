// swift-tools-version: 6.2
import PackageDescription

// The tests of objects and contexts, optimised. They are links to those of the layer, in a package that uses the library as programs do:
// in the build folder of the demo and the benchmark it is compiled already.

/// Tests that see internal declarations, which an optimised library hides. `.ci/long` runs them optimised.
let internalTests = [
  "EqualValueTests.swift", "HistoryColumnTests.swift", "LockedClosureTests.swift", "MergeOrderTests.swift",
  "ObjectStateTests.swift", "OverriddenMethodTests.swift", "QueryEngineAgreementTests.swift",
  "QueryResolverAgreementTests.swift", "QueryResolverTests.swift", "QueryWorld.swift", "Merging",
  // Makes its store by a function of Merging.
  "OrderedNumberTests.swift",
]

/// Tests of statements, files and migrations. What the optimiser changes is how long objects live and which checks remain: the tests of
/// objects and contexts show that. `.ci/long` runs these optimised, too.
let storeTests = [
  "Migrations", "SeveralStores", "RequestFuzzing", "Profiling",
  "AttributeStorageTests.swift", "BatchCascadeTests.swift", "BatchExpressionTests.swift",
  "BatchRandomisedTests.swift", "BatchRequestTests.swift", "BatchUpsertTests.swift", "CachedModelTests.swift",
  "DerivedAttributeTests.swift", "DictionaryRandomisedTests.swift", "ErrorNumberTests.swift",
  "ForeignStoreTests.swift", "HistoryTests.swift", "HistoryTokenTests.swift", "HistoryTokenTextTests.swift",
  "HistoryStreamTests.swift", "MandatoryRelationshipTests.swift",
  "MandatoryRelationshipRandomisedTests.swift", "MutatedStoreTests.swift", "MutatedValueTests.swift",
  "QueryMistakeTests.swift", "SalvagedStoreTests.swift", "StoreEngineTests.swift", "StoreLinkTests.swift",
  "StoreMovingTests.swift",
  "StoredEdgeTests.swift", "StoredPathTests.swift", "TypedPathAgreementTests.swift",
]

let package = Package(
  name: "Optimised",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CoreDataEvolution", path: "../..")],
  targets: [
    .testTarget(
      name: "CDEModelRuntimeTests",
      dependencies: [
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDEPredicates", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
        .product(name: "CDEExecutors", package: "CoreDataEvolution"),
        .product(name: "CDEProfiling", package: "CoreDataEvolution"),
      ],
      exclude: internalTests + storeTests,
      // The library is what is optimised. The tests' own optimisation takes eight minutes of two cores; `.ci/long` does that.
      swiftSettings: [.unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"])])
  ],
  swiftLanguageModes: [.v6]
)

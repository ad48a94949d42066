// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "CoreDataEvolution",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CoreDataEvolution", targets: ["CoreDataEvolution"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Profiling", path: "../Profiling"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
    .package(name: "ObservationDomain", path: "../ObservationDomain"),
    .package(name: "Databases", path: "../Databases"),
    .package(name: "TestSupport", path: "../TestSupport"),
  ],
  targets: [
    .target(
      name: "CoreDataEvolution",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEProfiling", package: "Profiling"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEObservation", package: "ObservationDomain"),
        .product(name: "CDEDatabases", package: "Databases"),
        .product(name: "CDETestSupport", package: "TestSupport"),
      ]),
    .testTarget(name: "CoreDataEvolutionTests", dependencies: ["CoreDataEvolution"]),
  ],
  swiftLanguageModes: [.v6]
)

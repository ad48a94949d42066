// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Databases",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEDatabases", targets: ["CDEDatabases"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
  ],
  targets: [
    .target(
      name: "CDEDatabases",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
    .testTarget(
      name: "CDEDatabasesTests",
      dependencies: [
        "CDEDatabases", .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

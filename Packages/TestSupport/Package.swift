// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "TestSupport",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDETestSupport", targets: ["CDETestSupport"]),
    .library(name: "CDETesting", targets: ["CDETesting"]),
    .library(name: "CDEXCTest", targets: ["CDEXCTest"]),
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
    .package(name: "Databases", path: "../Databases"),
    .package(name: "SwiftData", path: "../SwiftData"),
  ],
  targets: [
    .target(
      name: "CDETestSupport",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEDatabases", package: "Databases"),
        .product(name: "CDESQLiteFaults", package: "Store"),
      ]),
    .target(
      name: "CDETesting",
      dependencies: [
        "CDETestSupport",
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDESwiftData", package: "SwiftData"),
        .product(name: "CDESQLiteFaults", package: "Store"),
      ]),
    .target(
      name: "CDEXCTest",
      dependencies: [
        "CDETestSupport",
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
    .testTarget(
      name: "CDETestSupportTests",
      dependencies: [
        "CDETestSupport", "CDETesting", "CDEXCTest",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEDatabases", package: "Databases"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESwiftData", package: "SwiftData"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

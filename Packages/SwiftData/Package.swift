// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "SwiftData",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDESwiftData", targets: ["CDESwiftData"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Macros", path: "../Macros"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
    .package(name: "PostgreSQL", path: "../PostgreSQL"),
  ],
  targets: [
    .target(
      name: "CDESwiftData",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEMacrosPlugin", package: "Macros"),
      ]),
    .testTarget(
      name: "CDESwiftDataTests",
      dependencies: [
        "CDESwiftData",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEPostgreSQL", package: "PostgreSQL"),
      ]),
    .testTarget(
      name: "CDESwiftDataExamples",
      dependencies: ["CDESwiftData"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ModelRuntime",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEManagedModel", targets: ["CDEManagedModel"]),
    .library(name: "CDEPredicates", targets: ["CDEPredicates"]),
    .library(name: "CDEModelFiles", targets: ["CDEModelFiles"]),
    .library(name: "CDEModelRuntime", targets: ["CDEModelRuntime"]),
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Macros", path: "../Macros"),
  ],
  targets: [
    .target(
      name: "CDEManagedModel",
      dependencies: [
        "CDEPredicates",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .target(
      name: "CDEPredicates",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .target(
      name: "CDEModelFiles",
      dependencies: [
        "CDEManagedModel", "CDEPredicates",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .systemLibrary(name: "CDERuntimeABI"),
    .target(
      name: "CDEModelRuntime",
      dependencies: [
        "CDEManagedModel", "CDEModelFiles", "CDEPredicates", "CDERuntimeABI",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDEMacrosPlugin", package: "Macros"),
      ]),
    .testTarget(
      name: "CDEManagedModelTests",
      dependencies: ["CDEManagedModel", .product(name: "CDEStore", package: "Store")],
      resources: [.copy("Fixtures")]),
    .testTarget(name: "CDEPredicatesTests", dependencies: ["CDEPredicates"]),
    .testTarget(
      name: "CDEModelFilesTests",
      dependencies: [
        "CDEModelFiles", "CDEManagedModel", "CDEPredicates",
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
      ],
      resources: [.copy("Fixtures")]),
    .testTarget(
      name: "CDEModelRuntimeTests",
      dependencies: [
        "CDEModelRuntime", "CDEManagedModel", "CDEModelFiles", "CDEPredicates",
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEExecutors", package: "Executors"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Models",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEManagedModel", targets: ["CDEManagedModel"]),
    .library(name: "CDEPredicates", targets: ["CDEPredicates"]),
    .library(name: "CDEModelFiles", targets: ["CDEModelFiles"]),
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
  ],
  targets: [
    .target(
      name: "CDEPredicates",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEOperators", package: "Store"),
      ]),
    .target(
      name: "CDEManagedModel",
      dependencies: [
        "CDEPredicates",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEOperators", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .target(
      name: "CDEModelFiles",
      dependencies: [
        "CDEManagedModel", "CDEPredicates",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .testTarget(
      name: "CDEPredicatesTests",
      dependencies: ["CDEPredicates", .product(name: "CDEOperators", package: "Store")]),
    .testTarget(
      name: "CDEManagedModelTests",
      dependencies: ["CDEManagedModel", "CDEPredicates", .product(name: "CDEStore", package: "Store")],
      resources: [.copy("Fixtures")]),
    .testTarget(
      name: "CDEModelFilesTests",
      dependencies: [
        "CDEModelFiles", "CDEManagedModel", "CDEPredicates",
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
      ],
      resources: [.copy("Fixtures")]),
  ],
  swiftLanguageModes: [.v6]
)

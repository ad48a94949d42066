// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ModelRuntime",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEModelRuntime", targets: ["CDEModelRuntime"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Profiling", path: "../Profiling"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "Macros", path: "../Macros"),
  ],
  targets: [
    .systemLibrary(name: "CDERuntimeABI"),
    .target(
      name: "CDEModelRuntime",
      dependencies: [
        "CDERuntimeABI",
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEProfiling", package: "Profiling"),
        .product(name: "CDEOperators", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDEMacrosPlugin", package: "Macros"),
      ]),
    .testTarget(
      name: "CDEModelRuntimeTests",
      dependencies: [
        "CDEModelRuntime",
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEProfiling", package: "Profiling"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

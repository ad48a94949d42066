// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ObservationDomain",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEObservation", targets: ["CDEObservation"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
  ],
  targets: [
    .target(
      name: "CDEObservation",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
    // The other module of models whose parents stand in another module.
    .target(
      name: "CDEObservationModels",
      dependencies: [
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEManagedModel", package: "Models"),
      ],
      path: "Tests/CDEObservationModels"),
    .testTarget(
      name: "CDEObservationTests",
      dependencies: [
        "CDEObservation", "CDEObservationModels",
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEStore", package: "Store"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

// The programs beside the library. Nothing under Packages/ depends on this manifest, and it is one of the
// few that may name a package from outside.
let package = Package(
  name: "Tools",
  platforms: [.macOS(.v15)],
  products: [.library(name: "PackageModel", targets: ["PackageModel"])],
  traits: [
    .trait(
      name: "PostgreSQL", description: "The demo's index may be on a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    // For the diagram of the index's model.
    .package(
      name: "cde", path: "cde", traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]
    ),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    // The model of the demo's index, also for the service of Examples/Service.
    .target(
      name: "PackageModel",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
      ]),
    .executableTarget(
      name: "demo",
      dependencies: [
        "PackageModel",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDEDiagrams", package: "cde"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: [.copy("Samples")]),
    .testTarget(name: "DemoTests", dependencies: ["demo", "PackageModel"]),
  ],
  swiftLanguageModes: [.v6]
)

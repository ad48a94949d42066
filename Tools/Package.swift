// swift-tools-version: 6.2
import PackageDescription

// The programs beside the library. Nothing under Packages/ depends on this manifest, and it is the only
// one beside the benchmark's that may name a package from outside.
let package = Package(
  name: "Tools",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(
      name: "PostgreSQL", description: "The demo's index may be on a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "demo",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: [.copy("Samples")]),
    .testTarget(name: "DemoTests", dependencies: ["demo"]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0", traits: ["PostgreSQL"])
  ],
  targets: [
    .executableTarget(
      name: "Server",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDEPostgreSQL", package: "CoreDataEvolution"),
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "StaticExecutable",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0")],
  targets: [
    .executableTarget(
      name: "StaticExecutable",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution")
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)

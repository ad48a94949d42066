// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "UmbrellaOnMainActor",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0")],
  targets: [
    .target(
      name: "Shared",
      dependencies: [.product(name: "CoreDataEvolution", package: "CoreDataEvolution")]),
    .executableTarget(
      name: "UmbrellaOnMainActor",
      dependencies: ["Shared", .product(name: "CoreDataEvolution", package: "CoreDataEvolution")],
      path: "Sources/App",
      swiftSettings: [.defaultIsolation(MainActor.self)]),
  ],
  swiftLanguageModes: [.v6]
)

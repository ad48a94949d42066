// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "StoreAlone",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0")],
  targets: [
    .executableTarget(
      name: "StoreAlone",
      dependencies: [
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
